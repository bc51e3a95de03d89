#!/usr/bin/env python3
"""The Mermaid chart of the comment, drawn by Mermaid itself (npm, today's and an old version) in chromium:
every block gives an svg with as many bars as values and as many labels, and of hostile names nothing but
text. The blocks come from the hand-made verdicts (test_reporters --dump) and from `check` over traces
whose operators have the dump's hostile names.

    mermaid TEST_REPORTERS DIR     DIR keeps what npm fetched
Without chromium, npm or its registry the test is skipped; with CI set it fails, if the registry answers.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["TG_SOURCE_DIR"], "tests/e2e"))
import github  # noqa: E402
from support import PROGRAM, faults, read_text, write_json, write_text  # noqa: E402

PACKAGES = ["mermaid@11.12.0", "m10@npm:mermaid@10.9.1", "puppeteer-core@24.16.0"]
BATCHES, BARS = 12, 8
DRAW = r"""
import puppeteer from "puppeteer-core";
import {readFileSync} from "node:fs";
const [browser, library, file] = process.argv.slice(2);
const blocks = JSON.parse(readFileSync(file, "utf8"));
const b = await puppeteer.launch({executablePath: browser, headless: true,
                                  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
const page = await b.newPage();
await page.setContent("<!doctype html><html><body></body></html>");
await page.addScriptTag({path: library});
const out = await page.evaluate(async blocks => {
  mermaid.initialize({startOnLoad: false, securityLevel: "strict"});
  const out = [];
  for (const text of blocks) {
    const e = document.createElement("pre");
    e.textContent = text;
    document.body.appendChild(e);
    let error = "";
    try { await mermaid.run({nodes: [e]}); } catch (x) { error = String(x && x.message || x); }
    const svg = e.querySelector("svg");
    out.push({error, svg: !!svg,
              bars: svg ? svg.querySelectorAll("[class*=bar-plot] rect").length : 0,
              texts: svg ? [...svg.querySelectorAll("text")].map(t => t.textContent) : [],
              tags: svg ? [...new Set([...svg.querySelectorAll("*")].map(t => t.tagName.toLowerCase()))] : []});
    e.remove();
  }
  return out;
}, blocks);
console.log(JSON.stringify(out));
await b.close();
"""
TAGS = {"g", "rect", "text", "path", "style", "title", "desc", "line", "tspan"}


def stop(why, must):
    print(f"mermaid: {why}" + (" (CI must have it)" if must else ": skipped"))
    sys.exit(1 if must else 77)


def blocks_of(path):
    return re.findall(r"^```mermaid\n(.*?)^```$", read_text(path), re.S | re.M)


def trace(path, names, grow):
    """Two steps; operator k takes 1000 us, and `grow` times 500 us * (k + 1) more."""
    events, ts = [], 1000
    for step in range(2):
        start = ts
        for k, name in enumerate(names):
            dur = 1000 + grow * 500 * (k + 1)
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {}})
            ts += dur
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": start,
                       "dur": ts - start, "args": {}})
    write_json(path, {"traceEvents": events})


# Charts show what was judged: single runs are by a limit without statistics.
POLICY = "version: 1\nrules: [{id: longer, match: {kind: op}, metric: self, fail: {pct: 5%}, noise: {test: none}}]\n"


def hostile_blocks(names, folder):
    """(block, how many bars it must have)"""
    out = []
    write_text(folder + "/p.yml", POLICY)
    for i in range(BATCHES):
        batch = list(dict.fromkeys(names[i * BARS:(i + 1) * BARS]))
        trace(folder + "/a.json", batch, 0)
        trace(folder + "/b.json", batch, 1)
        run = subprocess.run([PROGRAM, "check", "b.json", "--baseline", "a.json", "--policy", "p.yml", "--markdown", "m.md"], cwd=folder,
                             capture_output=True, text=True, errors="replace")
        found = blocks_of(folder + "/m.md") if os.path.exists(folder + "/m.md") else []
        if len(found) != 1:
            faults.append(f"batch {i}: {len(found)} charts: {run.stdout[:500]} {run.stderr}")
            continue
        out.append(found[0])
    return out


def draw(browser, library, blocks, folder):
    write_json(folder + "/blocks.json", blocks)
    run = subprocess.run(["node", os.path.join(folder, "draw.mjs"), browser, library, folder + "/blocks.json"],
                         capture_output=True, text=True, timeout=300)
    if run.returncode:
        faults.append(f"{library}: {run.stderr[-1500:]}")
        return []
    return json.loads(run.stdout)


def check(version, block, drawn):
    values = re.search(r"^    bar \[(.*)\]$", block, re.M)[1].split(", ")
    labels = re.findall(r'"((?:[^"])*)"', re.search(r"^    x-axis \[(.*)\]$", block, re.M)[1])
    want = dict(error="", svg=True, bars=len(values))
    got = {k: drawn[k] for k in want}
    if got != want or len(labels) != len(values):
        faults.append(f"{version}: got {got}, want {want}, {len(labels)} labels\n{block}")
    if set(drawn["tags"]) - TAGS:
        faults.append(f"{version}: elements {set(drawn['tags']) - TAGS}\n{block}")
    # each label is drawn as it was meant: entities resolved, blanks as the renderer has them
    plain = [x.replace("#quot;", '"').split() for x in labels]
    shown = [t.split() for t in drawn["texts"]]
    missing = [p for p in plain if p not in shown]
    if missing:
        faults.append(f"{version}: labels not drawn: {missing} of {drawn['texts']}\n{block}")


def main():
    program, keep = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    browser = next((shutil.which(b) for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
    must = bool(os.environ.get("CI"))
    if not browser or not shutil.which("node"):
        stop("chromium or node is not installed", must)
    os.makedirs(keep, exist_ok=True)
    have = all(os.path.isdir(f"{keep}/node_modules/{p}") for p in ("mermaid", "m10", "puppeteer-core"))
    if not have and not github.npm(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", *PACKAGES], keep, 400):
        stop("npm's packages cannot be had", must and github.reachable(keep))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "--dump", folder], check=True)
        blocks = [b for f in sorted(os.listdir(folder)) if f.endswith(".md") for b in blocks_of(f"{folder}/{f}")]
        if len(blocks) < 3:
            faults.append(f"only {len(blocks)} charts in the dump")
        names = [bytes.fromhex(x).decode("utf-8", "replace").replace("\0", "") or "x" for x in read_text(folder + "/names.hex").split("\n")[:-1]]
        blocks += hostile_blocks(names, folder)
        os.symlink(keep + "/node_modules", folder + "/node_modules")
        write_text(folder + "/draw.mjs", DRAW)
        broken = 'xychart-beta horizontal\n    title "a\n    x-axis ["b", "c"]\n    bar [1, 2]\n'
        for version in ("mermaid", "m10"):
            drawn = draw(browser, f"{keep}/node_modules/{version}/dist/mermaid.min.js", blocks + [broken], folder)
            for block, one in zip(blocks, drawn):
                check(version, block, one)
            if drawn and not drawn[-1]["error"]:
                faults.append(f"{version}: draws what is broken")
    print("\n".join(faults))
    print(f"mermaid: {len(blocks)} charts by two versions, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
