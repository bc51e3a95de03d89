#!/usr/bin/env python3
"""The page of `check --html`, made from generated traces with Python stacks and from hostile names, in headless
Chromium: the policy names each style and script, nothing is asked for, no error; whole without JavaScript; drawings
zoom by mouse and keyboard; 390 px, dark, print; at most 500,000 bytes, the same bytes twice.

Without chromium the second half is skipped; with CI set it fails.
"""
import base64
import hashlib
import html.parser
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../reporters"))
import cause  # noqa: E402
from browser import Browser, Missing  # noqa: E402
from support import expect, read_bytes, run_parts, tracegate, write_json
from plain_model import mark, span

HOSTILE = ["</script><script>window.pwned = 1</script>", "<img src=x onerror=window.pwned=1>", "\" onmouseover=\"window.pwned=1",
           "javascript:alert(1)", "&lt;b&gt;", "a\u202eb\u200b", "`]]> --> <!-- x", "x" * 1010, "y" * 500 + "1" + "y" * 500,
           "y" * 500 + "2" + "y" * 500]
VOID = {"meta", "link", "input", "br", "img"}


class Tags(html.parser.HTMLParser):
    """Every tag closes, in order; no event handler, no style attribute; what is addressed."""

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.bad += [f"{tag} {k}" for k, _ in attrs if k.startswith("on") or k == "style"]
        self.links += [v for k, v in attrs if k in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.bad.append(f"</{tag}>")

    def handle_data(self, data):
        self.text.append(data)


def flat(path, names, factor, rounds=3):
    """Steps of one thread; operator k takes 100 us (1 + k % 7), times `factor` the k-th."""
    events, ts = [], 1000.0
    for step in range(rounds):
        begin = ts
        for k, name in enumerate(names):
            dur = 100 * (1 + k % 7) * factor(k)
            events.append(span("cpu_op", name, ts, dur))
            ts += dur
        events.append(mark(step, begin, ts - begin))
    write_json(path, {"traceEvents": events})


def stacks(folder):
    """cause.py's copy in every block, by its generator."""
    case = cause.CASES[1]
    for side in ("base", "out"):
        os.makedirs(f"{folder}/{side}")
        for k in range(5):
            tree, back = cause.program()
            if side == "out":
                case.change(tree, back)
            cause.trace(f"{folder}/{side}/run{k}.json.gz", tree, back, seed=k + 100 * (side == "out"))
    return ["out", "--runs", "--baseline", "base"]


def hostile(folder):
    os.makedirs(folder)
    flat(f"{folder}/a.json.gz", HOSTILE, lambda k: 1)
    flat(f"{folder}/b.json.gz", HOSTILE + ["new <b>"], lambda k: 1 + k)
    return ["b.json.gz", "--baseline", "a.json.gz"]


def large(folder):
    """3,000 names of 300 letters, one more, and ProfilerStep: more than a page holds."""
    os.makedirs(folder)
    names = [f"kernel_{k:04d}_" + "abcdefghij" * 29 for k in range(3000)]
    flat(f"{folder}/a.json.gz", names, lambda k: 1, rounds=1)
    flat(f"{folder}/b.json.gz", names + ["one more"], lambda k: 2 if k % 2 else 1, rounds=1)
    return ["b.json.gz", "--baseline", "a.json.gz"]


def many_new(folder):
    """6,000 new names that one finding has: what follows it is part of what a page holds, too."""
    os.makedirs(folder)
    new = [f"new_kernel_{k:05d}_" + "abcdefghij" * 7 for k in range(6000)]
    for side, names in (("a", []), ("b", new)):
        os.makedirs(f"{folder}/{side}")
        for run in range(3):
            flat(f"{folder}/{side}/run{run}.json.gz", ["aten::mm", "aten::add"] + names, lambda k, r=run: 1 + .001 * r, rounds=2)
    return ["b", "--runs", "--baseline", "a"]


def make(folder, args, name="page.html", *more):
    run = tracegate("check", *args, "--html", name, "--json", "report.json", *more, cwd=folder, errors="replace")
    want = 0 if folder.endswith("large") else 1  # there the new name is under 0.1 % of the step
    expect(f"{folder}: exit of {args}: {run.stderr}", run.returncode, want)
    return read_bytes(f"{folder}/{name}")


def well_formed(what, page):
    text = page.decode()
    tags = Tags()
    tags.feed(text)
    expect(f"{what}: tags", (tags.bad, tags.open), ([], []))
    expect(f"{what}: bytes", len(page) <= 500000, True)
    policy = re.search('Content-Security-Policy" content="([^"]*)"', text).group(1)
    for tag in ("style", "script"):
        own = [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)]
        expect(f"{what}: {tag}", re.search(rf"{tag}-src ([^;]*)", policy).group(1).split(), own)
    return tags


def in_browser(b, what, path, n_rows):
    page = b.open(path)
    page.settle()
    expect(f"{what}: errors", page.errors, [])
    expect(f"{what}: requests", [r for r in page.requests if not r.startswith("data:")][1:], [])
    expect(f"{what}: pwned", page.run("window.pwned === undefined"), True)
    states = page.run("Array.from(document.querySelectorAll('.tools button[aria-pressed]')).map(x => x.textContent).join()").split(",")
    shown = page.run("Array.from(document.querySelectorAll('table.rows td .tag')).map(x => x.textContent).join()").split(",")
    expect(f"{what}: states are filtered by the words that rows have", set(states) - set(shown) - {""}, set())
    bare = b.open(path, script=False)
    expect(f"{what}: rows without script", bare.run("Array.from(document.querySelectorAll('table.rows tbody tr')).filter(r => "
                                                    "r.getClientRects().length).length"), n_rows)
    narrow = b.open(path, width=390, dark=True)
    expect(f"{what}: 390 px: one number a row", narrow.run("Math.max(...Array.from(document.querySelectorAll('table.rows tr, .parts + .wide tr'))"
                                                          ".map(r => Array.from(r.cells).filter(c => c.getClientRects().length).length))"), 2)
    expect(f"{what}: 390 px", narrow.run("document.scrollingElement.scrollWidth <= 390"), True)
    expect(f"{what}: dark", narrow.run("getComputedStyle(document.body).backgroundColor"), "rgb(13, 17, 23)")
    return page


def drawings(page):
    """One tree; `norm` is in it, and clicking it gives it the whole width."""
    expect("trees", page.run("document.querySelectorAll('.wide > svg.tree').length"), 1)
    width = "Number(document.querySelectorAll('.wide > svg.tree')[0].querySelector('g.sel rect').getAttribute('width'))"
    node = "Array.from(document.querySelectorAll('.wide > svg.tree')[0].querySelectorAll('g')).find(g => " \
           "/norm/.test(g.querySelector('title').textContent))"
    page.run(f"{node}.dispatchEvent(new MouseEvent('click', {{bubbles: true}})); 0")
    expect("zoomed", page.run(width), 1080)
    page.run("document.querySelectorAll('.wide > svg.tree')[0].focus(); 0")
    page.key("Escape")
    expect("whole again", page.run("document.querySelectorAll('g[visibility=hidden]').length"), 0)
    page.key("ArrowDown")
    first = page.run("document.querySelectorAll('.wide > svg.tree')[0].querySelector('g.sel title').textContent")
    page.key("Enter", text="\r")
    expect(f"by keyboard: {first}", page.run(width), 1080)


def of_diff(folder, base, fresh):
    """The page of `diff --html`: the same frame, without verdict, causes and rules."""
    run = tracegate("diff", base, fresh, "--html", "diff.html", cwd=folder, errors="replace")
    expect(f"{folder}: exit of diff: {run.stderr}", run.returncode, 0)
    page = read_bytes(f"{folder}/diff.html")
    tags = well_formed("diff", page)
    expect("diff: addresses", outside(tags.links), [])
    for part, there in (('id="step"', True), ('id="rows"', True), ('id="findings"', False), ('id="policy"', False)):
        expect(f"diff: {part}", part in page.decode(), there)
    return len(re.findall(b'<tr class="', page))


def outside(links):
    """What leads out of the page: neither the empty icon nor another place of it."""
    return [link for link in links if link != "data:," and not link.startswith("#")]


def main(tmp):
    made = {}
    for name, maker in (("stacks", stacks), ("hostile", hostile), ("large", large)):
        folder = f"{tmp}/{name}"
        args = maker(folder)
        made[name] = (folder, args, make(folder, args))
        tags = well_formed(name, made[name][2])
        expect(f"{name}: addresses", outside(tags.links), [])
    text = make(f"{tmp}/many", many_new(f"{tmp}/many"))
    well_formed("many new names", text)
    expect("what does not fit is counted", re.search(rb"and [\d,]+ more \(the table has them\)", text) is not None, True)
    folder, args, page = made["stacks"]
    expect("same bytes", make(folder, args, "again.html") == page, True)
    text = page.decode()
    for part in ("Block.forward", "tracegate check out --runs --baseline base", 'id="paths"', 'id="timeline"', 'id="step"', "new-work"):
        expect(f"the page has {part}", part in text or part.replace("Block.forward", "forward") in text, True)
    linked = make(folder, args, "linked.html", "--trace-url", "https://x.example/t.json.gz?a=1")
    link = outside(well_formed("linked", linked).links)
    expect("perfetto", [re.sub(r"\d+", "N", a) for a in link],
           ["https://ui.perfetto.dev/#!/?url=https%NA%NF%NFx.example%NFt.json.gz%NFa%NDN&ts=N&dur=N&visStart=N&visEnd=N"])
    refused = make(folder, args, "refused.html", "--trace-url", "javascript:alert(1)")
    expect("not a web address", outside(well_formed("refused", refused).links), [])
    long = made["hostile"][2].decode()
    shown = [re.sub(r"<(i|span)>.*?</\1>", "…", row) for row in re.findall(r'<tr class="\w+"><td>(.*?)</td>', long)]
    expect("rows that look alike", len(set(shown)), len(shown))
    expect("names that do not fit are counted", re.search(r"\d+ of 3002 names", made["large"][2].decode()) is not None, True)
    diffs = {name: of_diff(f"{tmp}/{name}", *sides) for name, sides in
             (("stacks", ("base/run0.json.gz", "out/run0.json.gz")), ("hostile", ("a.json.gz", "b.json.gz")), ("large", ("a.json.gz", "b.json.gz")))}
    try:
        with Browser() as b:
            for name, n_rows in diffs.items():
                in_browser(b, f"diff of {name}", f"{tmp}/{name}/diff.html", n_rows)
            pages = {name: in_browser(b, name, f"{folder}/page.html", len(re.findall(b'<tr class="', page)))
                     for name, (folder, _, page) in made.items()}
            drawings(pages["stacks"])
    except Missing as why:
        print(f"html: {why}")
        if os.environ.get("CI"):
            return 1


run_parts(main)
