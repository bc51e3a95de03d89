"use strict";
(function () {
  var W = 1080, told = false;
  function fit(text, width) {
    var room = Math.floor((width - 8) / 7);
    return room < 4 ? "" : text.length <= room ? text : text.slice(0, room - 1) + "\u2026";
  }
  function tree(svg) {
    var nodes = Array.prototype.map.call(svg.querySelectorAll("g"), function (g) {
      var r = g.querySelector("rect"), t = g.querySelector("text"), title = g.querySelector("title").textContent;
      return { g: g, r: r, t: t, i: g.getAttribute("data-i"), p: g.getAttribute("data-p"), x: Number(r.getAttribute("x")),
        y: Number(r.getAttribute("y")), w: Number(r.getAttribute("width")), title: title, own: t.textContent,
        name: title.replace(/ \([^()]*\): [^:]*$/, "") + (/( [+-]\d+ %| new| gone)$/.exec(title) || [""])[0] };
    });
    var by = {}, root = nodes[0], at = root, focus = root;
    var status = document.createElement("p"), reset = document.createElement("button");
    nodes.forEach(function (n) { by[n.i] = n; });
    function above(n, m) {
      for (; m !== root; m = by[m.p]) if (m === n) return true;
      return n === root;
    }
    function draw() {
      nodes.forEach(function (n) {
        var x = (n.x - at.x) * W / at.w, w = n.w * W / at.w, up = above(n, at) && n !== at;
        var out = !up && !above(at, n);
        if (up) { x = 0; w = W; }
        n.g.setAttribute("visibility", out ? "hidden" : "visible");
        n.r.setAttribute("x", x);
        n.r.setAttribute("width", w);
        n.t.setAttribute("x", x + 4);
        n.t.textContent = at === root ? n.own : fit(n.name, w);
      });
      reset.hidden = at === root;
    }
    function tell(n) {
      focus.g.classList.remove("sel");
      focus = n;
      n.g.classList.add("sel");
      status.textContent = n.title;
    }
    function zoom(n) { at = n; tell(n); draw(); }
    function step(key) {
      var same = nodes.filter(function (n) { return n.y === focus.y && n !== root && (above(at, n)); });
      var i = same.indexOf(focus);
      if (key === "ArrowUp" && focus !== root) return by[focus.p];
      if (key === "ArrowDown") return nodes.filter(function (n) { return n.p === focus.i && n !== root; })[0];
      return same[i + (key === "ArrowRight" ? 1 : -1)];
    }
    svg.addEventListener("keydown", function (e) {
      var next = /^Arrow/.test(e.key) ? step(e.key) : null;
      if (next) tell(next);
      else if (e.key === "Enter") zoom(focus);
      else if (e.key === "Escape") zoom(root);
      if (next || e.key === "Enter") e.preventDefault();
    });
    nodes.forEach(function (n) { n.g.addEventListener("click", function () { zoom(n === at ? root : n); }); });
    status.className = "dim small";
    status.setAttribute("role", "status");
    if (!told) status.textContent = "Click a frame, or focus the drawing and use the arrow keys and Enter; Escape shows all.";
    told = true;
    reset.type = "button";
    reset.className = "more";
    reset.textContent = "Show all";
    reset.hidden = true;
    reset.addEventListener("click", function () { zoom(root); });
    svg.parentNode.parentNode.insertBefore(status, svg.parentNode.nextSibling);
    status.parentNode.insertBefore(reset, status.nextSibling);
  }
  Array.prototype.forEach.call(document.querySelectorAll("svg.tree:not(.key)"), tree);
}());
