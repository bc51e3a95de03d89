"use strict";
/* Hover and arrow keys read a night's value off a large trend; without this script the tables have them. */
(function () {
  function nights(svg) {
    var table = document.getElementById(svg.getAttribute("data-nights"));
    return table ? Array.prototype.slice.call(table.querySelectorAll("tbody tr[data-night],tbody tr")) : [];
  }
  Array.prototype.forEach.call(document.querySelectorAll("svg.large"), function (svg) {
    var g = svg.querySelector("g.trend"), text = g.getAttribute("data-text").split("|"), at = -1;
    var x = Number(g.getAttribute("data-x")), dx = Number(g.getAttribute("data-dx")), n = text.length;
    var cross = document.createElementNS("http://www.w3.org/2000/svg", "path");
    var read = document.createElement("p"), byDate = nights(svg).map(function (row) {
      return row.cells[0].textContent + ", " + row.cells[1].textContent + " " + row.cells[row.cells.length - 1].textContent;
    });
    read.className = "read small";
    read.setAttribute("role", "status");
    svg.parentNode.appendChild(read);
    cross.setAttribute("class", "cross");
    g.appendChild(cross);
    svg.setAttribute("tabindex", "0");
    function show(i) {
      var px;
      at = i;
      if (i < 0) {
        cross.removeAttribute("d");
        read.textContent = "";
        return;
      }
      px = x + (n > 1 ? dx * i / (n - 1) : 0);
      cross.setAttribute("d", "M" + px + " " + g.getAttribute("data-top") + "V" + g.getAttribute("data-low"));
      read.textContent = (byDate[i] || "night " + (i + 1)) + ": " + (text[i] || "no value");
    }
    svg.addEventListener("pointermove", function (e) {
      var box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal.width;
      var i = Math.round(((e.clientX - box.left) * view / box.width - x) / dx * (n - 1));
      show(i < 0 || i >= n ? -1 : i);
    });
    svg.addEventListener("pointerleave", function () { show(-1); });
    svg.addEventListener("keydown", function (e) {
      var to = { ArrowLeft: at < 0 ? n - 1 : Math.max(at - 1, 0), ArrowRight: Math.min(at + 1, n - 1), Home: 0, End: n - 1, Escape: -1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      show(to);
    });
  });
}());
