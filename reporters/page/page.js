"use strict";
(function () {
  function make(tag, text, attributes) {
    var e = document.createElement(tag), k;
    if (text) e.textContent = text;
    for (k in attributes || {}) e.setAttribute(k, attributes[k]);
    return e;
  }
  function value(row, column, number) {
    var cell = row.cells[column], v = cell ? cell.getAttribute("data-v") : null;
    if (number) return v === null ? null : Number(v);
    return cell ? cell.textContent.trim().toLowerCase() : "";
  }
  /* Cells without a value are last in both directions; equal values keep the order of the page. */
  function order(rows, column, number, down) {
    return rows.slice().sort(function (x, y) {
      var a = value(x, column, number), b = value(y, column, number), d;
      if (a === b) return rows.indexOf(x) - rows.indexOf(y);
      if (a === null || a === "") return 1;
      if (b === null || b === "") return -1;
      d = a < b ? -1 : 1;
      return down ? -d : d;
    });
  }
  function table(t, n) {
    var body = t.tBodies[0], rows = Array.prototype.slice.call(body.rows);
    var first = Number(t.getAttribute("data-first") || 0), all = !first || rows.length <= first;
    var heads = Array.prototype.slice.call(t.tHead.rows[0].cells), shown = rows.slice();
    var tools = make("div", "", { "class": "tools" }), box = t.parentNode;
    var label = t.caption ? t.caption.textContent : "table", wanted = "", states = [];
    var input = make("input", "", { type: "search", name: "filter", placeholder: "Filter", "aria-label": "Filter: " + label });
    var count = make("span", "", { "class": "dim", role: "status" });
    var more = make("button", "", { "class": "more", type: "button" });
    function show() {
      var words = input.value.toLowerCase().split(/\s+/), hits = 0, seen = 0;
      shown.forEach(function (row) {
        var text = Array.prototype.map.call(row.cells, function (c) { return c.textContent; }).join("\n").toLowerCase();
        var hit = (!wanted || row.className === wanted) && words.every(function (w) { return text.indexOf(w) >= 0; });
        var filtered = wanted || input.value.trim();
        row.hidden = !hit || (!all && !filtered && hits >= first);
        hits += hit ? 1 : 0;
        seen += row.hidden ? 0 : 1;
      });
      count.textContent = seen === rows.length ? rows.length + " rows" : seen + " of " + rows.length + " rows";
      more.hidden = all || seen === hits;
      more.textContent = "Show all " + rows.length + " rows";
    }
    function sort(column) {
      var head = heads[column], number = head.classList.contains("num"), was = head.getAttribute("aria-sort");
      var next = !was ? (number ? "descending" : "ascending") : was === (number ? "descending" : "ascending")
        ? (number ? "ascending" : "descending") : "";
      heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
      if (next) head.setAttribute("aria-sort", next);
      shown = next ? order(rows, column, number, next === "descending") : rows.slice();
      shown.forEach(function (row) { body.appendChild(row); });
      show();
    }
    heads.forEach(function (h, i) {
      var b = make("button", h.textContent, { type: "button" });
      if (!h.textContent) return;
      h.textContent = "";
      h.appendChild(b);
      b.addEventListener("click", function () { sort(i); });
    });
    rows.forEach(function (r) { if (r.className && states.indexOf(r.className) < 0) states.push(r.className); });
    tools.appendChild(input);
    if (states.length > 1 && states.length < 9) states.forEach(function (s) {
      var b = make("button", s.replace("-", " "), { type: "button", "aria-pressed": "false" });
      b.addEventListener("click", function () {
        wanted = wanted === s ? "" : s;
        Array.prototype.forEach.call(tools.querySelectorAll("button"), function (o) {
          o.setAttribute("aria-pressed", String(o.textContent === wanted.replace("-", " ")));
        });
        show();
      });
      tools.appendChild(b);
    });
    tools.appendChild(count);
    input.addEventListener("input", show);
    input.addEventListener("keydown", function (e) { if (e.key === "Escape") { input.value = ""; show(); } });
    more.addEventListener("click", function () { all = true; show(); });
    box.parentNode.insertBefore(tools, box);
    box.parentNode.insertBefore(more, box.nextSibling);
    show();
  }
  Array.prototype.forEach.call(document.querySelectorAll("table.rows"), table);
  var opened = [];
  addEventListener("beforeprint", function () {
    opened = Array.prototype.filter.call(document.querySelectorAll("details"), function (d) { return !d.open; });
    opened.forEach(function (d) { d.open = true; });
  });
  addEventListener("afterprint", function () { opened.forEach(function (d) { d.open = false; }); });
}());
