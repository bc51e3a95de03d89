#!/usr/bin/env python3
"""The frame of HTML pages in headless Chromium: the policy holds, nothing is asked for, no error; tables sort and
filter by keyboard and are whole without JavaScript; dark, 390 px, print.

    page TEST_PAGE
Without chromium the test is skipped; with CI set it fails.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.environ["TG_SOURCE_DIR"], "tests/e2e")]
from browser import Browser, Missing  # noqa: E402
from support import expect, faults, finish, skip  # noqa: E402

NAMES = "Array.from(document.querySelectorAll('table.rows tbody tr')).filter(r => r.getClientRects().length)" \
        ".map(r => r.cells[0].textContent).join()"


def hashes_agree(path):
    """By Python's own SHA-256, over the bytes between the tags."""
    text = open(path, "rb").read()
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', text).group(1).decode()
    for tag in ("style", "script"):
        found = re.findall(f"<{tag}>(.*?)</{tag}>".encode(), text, re.S)
        own = ["'sha256-" + base64.b64encode(hashlib.sha256(t).digest()).decode() + "'" for t in found]
        expect(f"{tag} of the policy", re.search(rf"{tag}-src ([^;]*)", policy).group(1).split(), own)
    expect("addresses", re.findall(rb'(?:src|href)="(?!https://example.org/|data:,|#)[^"]*"', text), [])


def quiet(page, what):
    page.settle()
    expect(f"{what}: errors", page.errors, [])
    expect(f"{what}: requests", [r for r in page.requests if not r.startswith("data:")][1:], [])


def policy_holds(b, path):
    page = b.open(path)
    quiet(page, "as it is")
    expect("extra script", page.run("window.extra"), 1)
    for tag, text in (("script", "window.broken = 1"), ("style", "body { display: none }")):
        page.run(f"var e = document.createElement('{tag}'); e.textContent = '{text}'; document.body.appendChild(e); 0")
    page.run("document.body.setAttribute('style', 'display: none'); 0")
    page.run("var i = new Image(); i.src = 'https://example.org/x.png'; 0")
    page.settle()
    expect("injected script", page.run("window.broken === undefined"), True)
    expect("injected style", page.run("getComputedStyle(document.body).display"), "block")
    expect("refusals are seen", len(page.errors) >= 4, True)
    expect("image is refused", [why for url, why in page.refused if "example.org" in url], ["csp"])


def tables_work(b, path):
    """50 rows; row i has the number 37 i mod 50, row 1 has none; every third is `fail`."""
    number = [37 * i % 50 for i in range(50)]
    name = [f"op {i:03d}" for i in range(50)]
    falling = sorted((i for i in range(50) if i != 1), key=lambda i: -number[i]) + [1]
    rising = sorted((i for i in range(50) if i != 1), key=lambda i: number[i]) + [1]
    page = b.open(path)
    expect("first rows", page.run(NAMES), ",".join(name[:20]))
    page.run("document.querySelectorAll('th button')[1].focus(); 0")
    for what, order, aria in (("falling", falling, "descending"), ("rising", rising, "ascending"), ("again", range(50), None)):
        page.key("Enter", text="\r")
        expect(what, page.run(NAMES), ",".join(name[i] for i in list(order)[:20]))
        expect(what + " aria-sort", page.run("document.querySelectorAll('th')[1].getAttribute('aria-sort')"), aria)
    page.run("document.querySelector('.more').click(); 0")
    expect("all rows", page.run(NAMES), ",".join(name))
    page.run("var i = document.querySelector('.tools input'); i.focus(); i.value = 'OP 04'; i.dispatchEvent(new Event('input')); 0")
    expect("filtered", page.run(NAMES), ",".join([name[4]] + name[40:]))
    expect("count", page.run("document.querySelector('[role=status]').textContent"), "11 of 50 rows")
    page.key("Escape")
    expect("filter undone", page.run(NAMES), ",".join(name))
    page.run("document.querySelector('.tools button').click(); 0")
    expect("one state", page.run(NAMES), ",".join(name[::3]))
    quiet(page, "tables")


def whole_without_script(b, path):
    page = b.open(path, script=False)
    expect("rows without script", page.run(NAMES), ",".join(f"op {i:03d}" for i in range(50)))
    expect("tools without script", page.run("document.querySelectorAll('button, input').length"), 0)
    quiet(page, "without script")


def views(b, path):
    light, dark = b.open(path), b.open(path, dark=True)
    colour = "getComputedStyle(document.body).backgroundColor"
    expect("light", light.run(colour), "rgb(255, 255, 255)")
    expect("dark", dark.run(colour), "rgb(13, 17, 23)")
    narrow = b.open(path, width=390)
    expect("390 px", narrow.run("document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth"), True)
    paper = b.open(path, media="print")
    expect("rows in print", paper.run(NAMES), ",".join(f"op {i:03d}" for i in range(50)))
    expect("tools in print", paper.run("getComputedStyle(document.querySelector('.tools')).display"), "none")


def in_browser(path, checks, summary):
    """Each check of this page; the exit code of the test."""
    try:
        with Browser() as b:
            for check in checks:
                check(b, path)
    except Missing as why:
        if not faults:
            skip(why)
    return finish(summary)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        subprocess.run([sys.argv[1], "--dump", path], check=True)
        hashes_agree(path)
        return in_browser(path, (policy_holds, tables_work, whole_without_script, views), "page: policy, tables and views")


if __name__ == "__main__":
    sys.exit(main())
