#!/usr/bin/env python3
"""The page of a history in headless Chromium, from the numbers of test_history_page.c: policy active, no request, no
console error; events sort and filter, the trend is read by arrow keys and pointer; whole without JavaScript; dark,
390 px, print. The drawing is well-formed and has no address.

    history_page TEST_HISTORY_PAGE
Without chromium the test is skipped; with CI set it fails.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page import expect, hashes_agree, in_browser, quiet  # noqa: E402

SHOWN = "Array.from(document.querySelectorAll('#s0-%s tbody tr')).filter(r => r.getClientRects().length)"
FIRST = ".map(r => r.cells[%d].textContent).join()"


def shown(page, section, column):
    return page.run(SHOWN % section + FIRST % column).split(",")


def drawing(path):
    root = ET.parse(path).getroot()
    text = open(path, encoding="utf-8").read()
    expect("drawing: thirteen trends", len(root.findall(".//{*}g[@class='trend']")), 13)
    expect("drawing: addresses", re.findall(r"(?:https?:|url\(|href)", text.replace("http://www.w3.org/2000/svg", "")), [])
    # op 7 changed: one shaded place in its small multiple, one in the step's panel; the environment in all of them
    expect("drawing: one event, and the legend's", len(re.findall(r'class="event up"', text)), 3)
    trends = root.findall(".//{*}g[@class='trend']")
    texts = [[t.text for t in g.findall("{*}text")] for g in trends]
    expect("drawing: what the step's panel says", any(re.match(r"\+0\.[45] %  [0-9a-f]{6}$", t or "") for t in texts[0]), True)
    # op 7 rose by 20 %, and what was noise of 0.5 % stays a line: a scale that is the same or says so
    tops = [next(t for t in x if t.endswith(" %")) for x in texts[1:]]
    expect("drawing: scales", (19 <= float(tops[0][1:-2]) <= 22, set(tops[1:])), (True, {"+10 %"}))
    def height(g):
        ys = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", g.find("{*}path[@class='line']").get("d"))]
        return (max(ys) - min(ys)) / (float(g.get("data-low")) - float(g.get("data-top")))
    expect("drawing: heights", (height(trends[1]) > 0.6, max(map(height, trends[2:])) < 0.1), (True, True))
    expect("drawing: colours that librsvg knows", ("var(" in text, "prefers-color-scheme:dark" in text), (False, True))
    expect("drawing: environments", len(re.findall(r'class="env"', text)), 13 + 1)


def reads(b, path):
    page = b.open(path)
    expect("policy: script", "'sha256-" in page.run("document.querySelector('meta[http-equiv]').content"), True)
    page.run("var e = document.createElement('script'); e.textContent = 'window.broken = 1'; document.body.append(e); 0")
    page.settle()
    expect("policy: refuses", page.run("window.broken === undefined"), True)
    page = b.open(path)
    page.run("document.querySelector('svg.large').focus(); 0")
    read = "document.querySelector('.read').textContent"
    page.key("ArrowLeft")
    expect("last night", page.run(read).split(": ")[-1], "62.5 ms")
    expect("its date", page.run(read)[:10], "2026-07-26")
    page.key("ArrowLeft")
    expect("the night before", page.run(read).split(": ")[-1], "50.0 ms")
    page.key("Home")
    expect("first night", page.run(read)[:10], "2026-05-28")
    page.key("Escape")
    expect("nothing", page.run(read), "")
    page.run("var s = document.querySelector('svg.large'), r = s.getBoundingClientRect(); s.dispatchEvent("
             "new PointerEvent('pointermove', {clientX: r.right - r.width * 36 / 1080, clientY: r.top + 99})); 0")
    expect("pointer on the last night", page.run(read).split(": ")[-1], "62.5 ms")
    quiet(page, "trend")


def sorts(b, path):
    page = b.open(path)
    expect("events, newest first", shown(page, "events", 2), ["regression", "environment"])
    page.run("document.querySelectorAll('#s0-events th button')[0].focus(); 0")
    page.key("Enter", text="\r")
    expect("events, oldest first", shown(page, "events", 2), ["environment", "regression"])
    page.run("Array.from(document.querySelectorAll('#s0-events .tools button')).find(b => b.textContent == 'open').click(); 0")
    expect("events, open", shown(page, "events", 2), ["regression"])
    expect("operators: the first ones", len(shown(page, "series", 0)), 40)
    page.run("var i = document.querySelector('#s0-series .tools input'); i.focus(); i.value = 'number_499'; i.dispatchEvent(new Event('input')); 0")
    expect("operators: filter", shown(page, "series", 0), ["aten::operator_number_499"])
    page.key("Escape")
    page.run("document.querySelectorAll('#s0-series th button')[4].click(); 0")
    # the step: 62.5 against 50; op 7: 1.2 against the first nights of tonight's machine
    expect("operators: by change", shown(page, "series", 0)[0], "step_time")
    quiet(page, "tables")


def views(b, path):
    page = b.open(path, script=False)
    expect("without script: rows", len(shown(page, "series", 0)), 501)
    expect("without script: drawings, the first in two sizes", page.run("document.querySelectorAll('g.trend path.line').length"), 14)
    expect("without script: open event", page.run("document.querySelectorAll('#s0-open .cards > li').length"), 1)
    quiet(page, "without script")
    for dark, colour in ((False, "rgb(255, 255, 255)"), (True, "rgb(13, 17, 23)")):
        page = b.open(path, dark=dark)
        expect(f"dark {dark}", page.run("getComputedStyle(document.body).backgroundColor"), colour)
        line = page.run("getComputedStyle(document.querySelector('g.trend .line')).stroke")
        expect(f"dark {dark}: line", line, "rgb(192, 200, 209)" if dark else "rgb(75, 83, 93)")
    for width, wide in ((1200, True), (390, False)):
        page = b.open(path, width=width)
        expect(f"{width} px: one trend", page.run("Array.from(document.querySelectorAll('svg.large')).map(s => s.getBoundingClientRect()).filter("
                                                "r => r.width).map(r => r.width > 600)"), [wide])
    expect("390 px: the trend is whole", page.run("Array.from(document.querySelectorAll('.on-narrow text, .on-narrow path')).every(e => "
                                                "e.getBoundingClientRect().right <= 391)"), True)
    expect("390 px", page.run("document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth"), True)
    page = b.open(path, media="print")
    expect("print: rows", len(shown(page, "series", 0)), 501)
    expect("links", page.run("Array.from(document.links).every(a => a.getAttribute('href')[0] == '#' || "
                           "a.href.startsWith('https://example.org/o/r/commit/'))"), True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, svg = os.path.join(folder, "page.html"), os.path.join(folder, "drawing.svg")
        subprocess.run([sys.argv[1], "--dump", path, svg], check=True)
        hashes_agree(path)
        drawing(svg)
        return in_browser(path, (reads, sorts, views), "history_page: policy, trends, tables and views")


if __name__ == "__main__":
    sys.exit(main())
