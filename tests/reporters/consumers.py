#!/usr/bin/env python3
"""Real readers over the reports of the hand-made verdicts: test_reporters --dump writes them.

usage: consumers TEST_REPORTERS WORK_DIR [PART...]
A tool that is missing skips its part; with CI set it fails instead (npm packages: only when the
registry answers). Expected texts are derived here, from the rules of the formats, not by our code.
"""
import csv
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
ROOT = os.environ["TG_SOURCE_DIR"]
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import github  # noqa: E402
XSD = os.path.join(os.environ["TG_SHARED_DIR"], "consumers")
FIXTURES = ["pass", "warn", "fail", "inconclusive", "lost", "first_run", "error", "hostile", "large"]
PYTHON = "/usr/bin/python3"  # has the packages of apt, whatever python3 comes first in PATH
skipped = []


class Fault(Exception):
    pass


def must(condition, text):
    if not condition:
        raise Fault(text)


def tool(name):
    """False: skip this part."""
    if shutil.which(name):
        return True
    must(not os.environ.get("CI"), f"{name} is not installed")
    skipped.append(name)
    return False


def module(name):
    python = PYTHON if os.path.exists(PYTHON) else sys.executable
    if subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode == 0:
        return python
    must(not os.environ.get("CI"), f"python3-{name} is not installed")
    skipped.append(f"python3-{name}")
    return None


def run(args, **more):
    return subprocess.run(args, capture_output=True, **more)


def read(path, mode="r"):
    with open(path, mode, **({} if "b" in mode else {"encoding": "utf-8", "newline": ""})) as f:
        return f.read()


# ---- the text rules, written down a second time ------------------------------------------------

def visible(raw):
    """CR, LF, TAB: blank; controls and invisible or direction-changing characters: spelled out."""
    out = []
    for c in decode(raw):
        n = ord(c)
        if c in "\r\n\t":
            out.append(" ")
        elif (n < 0x20 or 0x7F <= n < 0xA0 or 0x200B <= n <= 0x200F or 0x2028 <= n <= 0x202E
              or 0x2066 <= n <= 0x2069 or n == 0xFEFF):
            out.append("\\u%04x" % n)
        else:
            out.append(c)
    return "".join(out)


def decode(raw):
    """Each byte that belongs to no valid sequence becomes one U+FFFD."""
    return re.sub("[\udc80-\udcff]", "\ufffd", raw.decode("utf-8", "surrogateescape"))


# ---- JUnit -------------------------------------------------------------------------------------

def xmllint(path, schema=None):
    args = ["xmllint", "--noout"] + (["--schema", schema] if schema else []) + [path]
    return run(args).returncode == 0


def only_suite(path, out, drop):
    """The suite alone as a document, as Surefire's schema has it, without what it does not know."""
    suite = ET.parse(path).getroot().find("testsuite")
    for element in suite.iter():
        for key in drop:
            element.attrib.pop(key, None)
    for child in list(suite):
        if child.tag in ("system-out", "system-err"):
            suite.remove(child)
    ET.ElementTree(suite).write(out, encoding="utf-8", xml_declaration=True)


def junit_counts(path):
    root = ET.parse(path).getroot()
    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    names = [(c.get("classname"), " ".join(c.get("name").split())) for c in cases]
    must(len(set(names)) == len(names), f"{path}: (classname, name) is not unique")
    must(all(a and b for a, b in names), f"{path}: an empty name")
    states = {"failure": 0, "error": 0, "skipped": 0}
    for case in cases:
        found = [c.tag for c in case if c.tag in states]
        must(len(found) <= 1, f"{path}: a case with {found}")
        for tag in found:
            states[tag] += 1
    want = (len(cases), states["failure"], states["error"], states["skipped"])
    got = tuple(int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped"))
    must(want == got, f"{path}: counts {got}, cases say {want}")
    must(re.fullmatch(r"\d+\.\d+", suite.get("time")) is not None, f"{path}: time")
    return want


def part_junit(work):
    if not tool("xmllint"):
        return
    for f in FIXTURES:
        for kind in ("junit", "junit-strict"):
            path = f"{work}/{kind}_{f}.xml"
            must(xmllint(path), f"{path} is not well-formed")
            junit_counts(path)
    # Expected by hand from the fixture: four findings, and two that follow; these, waived, not judged and skip are skipped.
    must(junit_counts(f"{work}/junit_fail.xml") == (11, 4, 0, 5), "counts of the fail fixture")
    must(junit_counts(f"{work}/junit_lost.xml") == (1, 0, 1, 0), "a lost baseline is one error")
    must(junit_counts(f"{work}/junit_inconclusive.xml") == (1, 0, 1, 0), "a guard is one error")
    must(junit_counts(f"{work}/junit_error.xml") == (1, 0, 1, 0), "an error is one error")
    must(junit_counts(f"{work}/junit_first_run.xml") == (1, 0, 0, 1), "a first run is skipped")
    must(junit_counts(f"{work}/junit_warn.xml") == (2, 0, 0, 0), "warnings pass")


def part_schemas(work):
    if not os.path.isdir(XSD):
        skipped.append("schemas (no ../shared)")
        return
    if not tool("xmllint"):
        return
    jenkins, windyroad, surefire = (os.path.join(XSD, n) for n in (
        "jenkins-junit-10.xsd", "windyroad-JUnit.xsd", "surefire-test-report.xsd"))
    one = f"{work}/suite.xml"
    for f in FIXTURES:
        strict = f"{work}/junit-strict_{f}.xml"
        must(xmllint(strict, jenkins), f"{strict} against Jenkins' schema")
        must(xmllint(strict, windyroad), f"{strict} against Windyroad's schema")
        # Surefire knows single suites, and no hostname; Windyroad demands one.
        only_suite(strict, one, ("hostname", "package", "id"))
        must(xmllint(one, surefire), f"the suite of {strict} against Surefire's schema")
        only_suite(f"{work}/junit_{f}.xml", one, ("file", "line"))
        must(xmllint(one, surefire), f"the suite of junit_{f}.xml against Surefire's schema")
    # The check can fail: file and line are what strict mode is there to leave out.
    must(not xmllint(f"{work}/junit_fail.xml", jenkins), "the default form should not be strict")


def real_check(work):
    """The file of a failing check over real traces, one operator of which has a name that wants out."""
    out = f"{work}/junit_real.xml"
    from box import TRACES, hostile_traces
    os.makedirs(f"{work}/hostile", exist_ok=True)
    traces = hostile_traces(f"{work}/hostile")
    r = run([os.environ["TG_PROGRAM"], "check", "--runs", "--policy", f"{ROOT}/examples/policy.yml", "--baseline",
             f"{TRACES}/base/run0[0-4].json.gz", *traces, "--junit", out], text=True)
    must(r.returncode == 1, f"a failing check: {r.returncode} {r.stderr}")
    return out


def cases_of(path):
    """(classname, name, state, message) of each case, by Python's own reader; state "" passed."""
    out = []
    for c in ET.parse(path).getroot().find("testsuite"):
        if c.tag == "testcase":
            state = next((x for x in c if x.tag in ("failure", "error", "skipped")), None)
            out.append((c.get("classname"), c.get("name"), "" if state is None else state.tag,
                        None if state is None else state.get("message")))
    return out


def junit_files(work):
    return [f"{work}/junit_{f}.xml" for f in FIXTURES] + [real_check(work)]


def part_gitlab(work):
    """30 MB, 500,000 cases; a case is suite, classname and name: doubles are dropped; the body of a failure is
    what is shown, so it repeats the message; suites are read flat."""
    for path in junit_files(work):
        must(os.path.getsize(path) <= 30 << 20, f"{path}: over 30 MB")
        root = ET.parse(path).getroot()
        must((root.tag, [s.tag for s in root]) == ("testsuites", ["testsuite"]), f"{path}: not testsuites, testsuite")
        must(not root.findall("testsuite/testsuite"), f"{path}: a suite in a suite")
        cases = root.findall("testsuite/testcase")
        must(0 < len(cases) <= 500000, f"{path}: {len(cases)} cases")
        kept = {(c.get("classname"), c.get("name")) for c in cases if c.get("classname") and c.get("name")}
        must(len(kept) == len(cases), f"{path}: GitLab keeps {len(kept)} of {len(cases)}")
        for c in cases:
            must(re.fullmatch(r"\d+(\.\d+)?", c.get("time")), f"{path}: time {c.get('time')}")
            for bad in [x for x in c if x.tag in ("failure", "error")]:
                must((bad.text or "").strip().startswith(bad.get("message").strip()), f"{path}: the body is not the message: {bad.text!r}")
                must(len(bad.text) < 10_000_000, f"{path}: a text over libxml2's limit")
    must(any(x[2] == "failure" for x in cases_of(f"{work}/junit_real.xml")), "the failing check has failures")


def part_jenkins(work):
    """Jenkins shows package and class, so a classname has a dot; message is one line; time has no comma and no
    exponent; the timestamp has no zone; an XML 1.0 reader takes every character; attributes add up."""
    for path in junit_files(work):
        root = ET.parse(path).getroot()
        suite = root.find("testsuite")
        must(suite.get("name"), f"{path}: a suite without a name")
        stamp = suite.get("timestamp")
        must(stamp is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", stamp), f"{path}: timestamp {stamp}")
        for c in suite.findall("testcase"):
            must(re.fullmatch(r"[^.]+(\.[^.]+)+", c.get("classname")), f"{path}: classname {c.get('classname')}")
            must(float(c.get("time")) >= 0 and "e" not in c.get("time").lower(), f"{path}: time {c.get('time')}")
            for state in c:
                must("\n" not in (state.get("message") or ""), f"{path}: a message of two lines")
                if state.tag == "skipped":
                    must(state.get("message"), f"{path}: skipped without a reason")
        for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            must(int(suite.get(key)) == len(suite.findall(f"testcase/{tag}")), f"{path}: {key}")
        must(all(root.get(k) == suite.get(k) for k in ("tests", "failures", "errors")), f"{path}: sums of testsuites")


def part_junitparser(work):
    python = module("junitparser")
    if not python:
        return
    code = ("import json, sys, junitparser\n"
            "for p in sys.argv[1:]:\n"
            "    s = list(junitparser.JUnitXml.fromfile(p))[0]\n"
            "    print(json.dumps([[c.classname, c.name] + ([type(c.result[0]).__name__.lower(), c.result[0].message]\n"
            "        if c.result else ['', None]) for c in s]))\n")
    paths = junit_files(work) + [f"{work}/junit-strict_{f}.xml" for f in FIXTURES]
    r = run([python, "-c", code] + paths, text=True)
    must(r.returncode == 0, f"junitparser: {r.stderr}")
    for path, line in zip(paths, r.stdout.splitlines()):
        must([tuple(c) for c in json.loads(line)] == cases_of(path), f"junitparser reads {path} otherwise")


JUNIT_PACKAGES = ["junit2json@4", "junit-to-ctrf@0", "xunit-viewer@10.6.1", "test-results-parser@0.4.6"]


def npm_packages(work):
    """Readers of JUnit files in a throw-away folder; None without npm or registry."""
    folder = f"{work}/npm"
    if all(os.path.exists(f"{folder}/node_modules/{p.split('@')[0]}/package.json") for p in JUNIT_PACKAGES):
        return folder
    if not shutil.which("npm"):
        must(not os.environ.get("CI"), "npm is not installed")
        skipped.append("npm")
        return None
    os.makedirs(folder, exist_ok=True)
    if not github.npm(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, *JUNIT_PACKAGES],
                      folder):
        must(not (os.environ.get("CI") and github.reachable(folder)), "npm could not install the readers")
        skipped.append("npm packages (registry not reachable)")
        return None
    return folder


# each prints for each file a line, [[classname or null, name, state], …]
READERS = {
    "junit2json": """
import {readFileSync} from 'fs';
import {parse} from 'junit2json';
const state = t => ['failure', 'error', 'skipped'].find(k => t[k] && t[k].length) ?? '';
for (const p of process.argv.slice(2)) {
  const x = await parse(readFileSync(p, 'utf8'));
  console.log(JSON.stringify(x.testsuite[0].testcase.map(t => [t.classname, t.name, state(t)])));
}
""",
    "test-results-parser": """
import {createRequire} from 'module';
const {parse} = createRequire(import.meta.url)('test-results-parser');
const state = {PASS: '', FAIL: 'failure', SKIP: 'skipped'};
for (const p of process.argv.slice(2)) {
  const cases = parse({type: 'junit', files: [p]}).suites.flatMap(s => s.cases);
  console.log(JSON.stringify(cases.map(c => [null, c.name, state[c.status]])));
}
""",
    "xunit-viewer": """
import {readFileSync} from 'fs';
import parse from './node_modules/xunit-viewer/src/cli/parse.js';
for (const p of process.argv.slice(2)) {
  const x = await parse(readFileSync(p, 'utf8'));
  const cases = Object.values(x.suites).flatMap(s => Object.values(s.tests));
  console.log(JSON.stringify(cases.map(c => [c.classname, c.name, c.status === 'passed' ? '' : c.status])));
}
""",
}


def as_read(reader, got, cases):
    """What this reader has to give, and what it gave, in one order. xunit-viewer sorts by a hash; test-results-parser
    keeps no class, knows no errors but failures, and leaves the reference &#39; as it is."""
    if reader == "test-results-parser":
        got = [(None, n.replace("&#39;", "'"), s) for _, n, s in got]
        return got, [(None, n, "failure" if s == "error" else s) for _, n, s, _ in cases]
    got, want = [tuple(c) for c in got], [c[:3] for c in cases]
    return (sorted(got), sorted(want)) if reader == "xunit-viewer" else (got, want)


def part_npm(work):
    folder = npm_packages(work)
    if not folder:
        return
    files = junit_files(work)
    for name, text in READERS.items():
        with open(f"{folder}/{name}.mjs", "w", encoding="utf-8") as f:
            f.write(text)
        r = run(["node", f"{folder}/{name}.mjs", *files], text=True)
        must(r.returncode == 0, f"{name}: {r.stderr}")
        for path, line in zip(files, r.stdout.splitlines()):
            got, want = as_read(name, json.loads(line), cases_of(path))
            must(len(got) == len(want) and got == want, f"{name} reads {path} otherwise: {len(got)} of {len(want)}, "
                 f"{next(((g, w) for g, w in zip(got, want) if g != w), '')}")
    for path in (f"{work}/junit_fail.xml", f"{work}/junit_hostile.xml", f"{work}/junit_real.xml"):
        cases, out = cases_of(path), f"{work}/ctrf.json"
        r = run(["node", f"{folder}/node_modules/.bin/junit-to-ctrf", path, "-o", out], text=True)
        must(r.returncode == 0, f"junit-to-ctrf: {r.stderr}")
        tests = json.loads(read(out))["results"]["tests"]
        state = {"": "passed", "failure": "failed", "error": "failed", "skipped": "skipped"}
        must([t["status"] for t in tests] == [state[c[2]] for c in cases], f"junit-to-ctrf reads {path} otherwise")
        # it breaks characters beyond the basic plane itself
        must(all(c[1] in t["name"] for t, c in zip(tests, cases) if max(c[1]) < "\U00010000"), f"junit-to-ctrf: names of {path}")


# ---- JSON --------------------------------------------------------------------------------------

def part_json(work):
    for f in FIXTURES:
        d = json.loads(read(f"{work}/json_{f}.json"))
        for key in ("schema", "verdict", "exit_code", "coverage", "baseline", "violations",
                    "warnings", "suspicious", "table"):
            must(key in d, f"json_{f}: no {key}")
        for v in d["violations"]:
            must({"rule", "op", "op_normalised", "kind", "metric", "dimension", "baseline", "test",
                  "delta", "delta_pct", "limit", "at"} <= set(v), f"json_{f}: {v}")
    d = json.loads(read(f"{work}/json_fail.json"))
    copy = [v for v in d["violations"] if v["op"] == "aten::copy_"][0]
    must((copy["baseline"], copy["test"], copy["delta"], copy["at"]) == (12, 20, 8, ".tracegate.yml:12"),
         f"aten::copy_: {copy}")
    must(abs(copy["delta_pct"] - 200 / 3) < 1e-9, "8 of 12 is two thirds")
    python = module("jsonschema")
    if not python:
        return
    code = ("import json, sys, jsonschema\n"
            "v = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))\n"
            "v.check_schema(v.schema)\n"
            "for p in sys.argv[2:]:\n"
            "    d = json.load(open(p)); e = next(v.iter_errors(d), None)\n"
            "    if e: sys.exit(p + ': ' + str(e.message)[:300] + ' at ' + str(list(e.path)))\n"
            "for key in list(v.schema['required']):\n"
            "    bad = {k: x for k, x in d.items() if k != key}\n"
            "    if v.is_valid(bad): sys.exit('valid without ' + key)\n"
            "if v.is_valid({**d, 'verdict': 'maybe'}): sys.exit('any verdict is valid')\n")
    r = run([python, "-c", code, f"{ROOT}/docs/report.schema.json"]
            + [f"{work}/json_{f}.json" for f in FIXTURES], text=True)
    must(r.returncode == 0, f"schema: {r.stderr[-600:]}")


def part_benchmark(work):
    """customSmallerIsBetter: an array of name, unit, value and range; a name is one series, so each once."""
    for f in FIXTURES:
        entries = json.loads(read(f"{work}/benchmark_{f}.json"))
        must(isinstance(entries, list), f"{f}: not an array")
        for e in entries:
            must(set(e) <= {"name", "unit", "value", "range"} and {"name", "unit", "value"} <= set(e), f"{f}: {e}")
            must(isinstance(e["name"], str) and isinstance(e["unit"], str) and isinstance(e["value"], (int, float)), f"{f}: {e}")
        names = [e["name"] for e in entries]
        must(len(set(names)) == len(names), f"{f}: a name twice: {names}")
    must(len(json.loads(read(f"{work}/benchmark_fail.json"))) > 5, "few entries of a failure")


def part_code_quality(work):
    """What GitLab reads: five members that it requires, paths from the repository's root, each fingerprint once."""
    for f in FIXTURES:
        entries = json.loads(read(f"{work}/code-quality_{f}.json"))
        must(isinstance(entries, list), f"{f}: not an array")
        for e in entries:
            must(set(e) == {"description", "check_name", "fingerprint", "severity", "location"}, f"{f}: {e}")
            must(e["severity"] in ("info", "minor", "major", "critical", "blocker"), f"{f}: {e['severity']}")
            must(e["description"] and e["check_name"] and re.fullmatch("[0-9a-f]{32}", e["fingerprint"]), f"{f}: {e}")
            place = e["location"]
            must(set(place) == {"path", "lines"} and not place["path"].startswith(("/", "./")) and place["path"], f"{f}: {place}")
            must(set(place["lines"]) == {"begin"} and place["lines"]["begin"] >= 1, f"{f}: {place}")
        prints = [e["fingerprint"] for e in entries]
        must(len(set(prints)) == len(prints), f"{f}: a fingerprint twice")
    must(json.loads(read(f"{work}/code-quality_pass.json")) == [], "a pass has entries")
    must(len(json.loads(read(f"{work}/code-quality_fail.json"))) > 1, "few entries of a failure")
    must(len(json.loads(read(f"{work}/code-quality_error.json"))) == 1, "an error is one entry")


def part_openmetrics(work):
    """The exposition format: TYPE, UNIT, HELP before the samples of a family, labels escaped, EOF last, no sample twice."""
    sample = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?[0-9.]+(?:e[-+]?[0-9]+)?)')
    for f in FIXTURES:
        lines = read(f"{work}/openmetrics_{f}.prom").split("\n")
        must(lines[-2:] == ["# EOF", ""], f"{f}: does not end with EOF")
        family, seen = "", set()
        for line in lines[:-2]:
            told = re.fullmatch(r"# (TYPE|UNIT|HELP) ([a-z_]+) (.*)", line)
            got = sample.fullmatch(line)
            must(told or got, f"{f}: {line}")
            if told and told[1] == "TYPE":
                must(told[3] == "gauge" and told[2] not in seen, f"{f}: {line}")
                family = told[2]
                seen.add(family)
            else:
                must((told[2] if told else got[1]) == family, f"{f}: {line} is not of {family}")
            if told and told[1] == "UNIT":
                must(family.endswith("_" + told[3]), f"{f}: {line}")
            if got:
                must((got[1], got[2]) not in seen, f"{f}: twice: {line}")
                seen.add((got[1], got[2]))


def part_csv(work):
    names = [bytes.fromhex(x) for x in read(f"{work}/names.hex").split("\n")[:-1]]
    with open(f"{work}/csv_large.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    must(all(len(r) == 8 for r in rows), "eight columns a row")
    # A line break before what a CI runner takes for a command becomes a blank (docs/reports.md, Hostile text).
    want = [re.sub(r"\n(?=[ \t]*(::|##\[))", " ", decode(n).replace("\0", "\ufffd")) for n in names]
    # Before what a spreadsheet takes for a formula, an apostrophe.
    want = ["'" + w if re.match(r"[ \t\r\n]*[=+\-@].", w, re.S) else w for w in want]
    must([r[0] for r in rows[1:]] == want, "names in the CSV")


# ---- Markdown ----------------------------------------------------------------------------------

ALLOWED = {"h3", "p", "br", "strong", "ul", "li", "sub", "code", "table", "thead", "tbody", "tr",
           "th", "td", "details", "summary", "blockquote", "pre"}


class Page(html.parser.HTMLParser):
    """Tags met, text outside of code, and of each table row the cells as (code texts, other text)."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.prose, self.rows, self.stack, self.comments = [], [], [], [], 0
        self.folded = []  # the code texts of each list item inside a fold

    def handle_comment(self, data):
        self.comments += 1

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.stack.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "li" and "details" in self.stack:
            self.folded.append([])
        elif tag == "code" and "li" in self.stack and "details" in self.stack:
            self.folded[-1].append("")
        elif tag in ("td", "th"):
            self.rows[-1].append(["", ""])

    def handle_endtag(self, tag):
        must(self.stack and self.stack[-1] == tag, f"</{tag}> closes {self.stack[-3:]}")
        self.stack.pop()

    def handle_data(self, data):
        inside = "code" in self.stack
        if not inside:
            self.prose.append(data)
        if inside and "li" in self.stack and "details" in self.stack:
            self.folded[-1][-1] += data
        if any(t in self.stack for t in ("td", "th")):
            self.rows[-1][-1][not inside] += data


def render(path):
    r = run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tagfilter",
             "--unsafe", path])
    must(r.returncode == 0, f"cmark-gfm: {r.stderr}")
    page = Page()
    page.feed(r.stdout.decode("utf-8"))
    page.close()
    must(not page.stack, f"{path}: open at the end: {page.stack}")
    return page


def check_page(path, page):
    for tag, attrs in page.tags:
        must(tag in ALLOWED, f"{path}: <{tag}>")
        must(set(attrs) <= {"align", "class"}, f"{path}: <{tag} {attrs}>")
    must(page.comments == 1, f"{path}: {page.comments} comments, only the marker is ours")
    prose = " ".join(page.prose)
    for what in (r"@\w", r"#\d", r"\bGH-\d", r"://", r"\bwww\.", r"\b(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,40}\b",
                 r":\w+:", r"\$", r"::"):
        found = re.search(what, prose)
        must(not found, f"{path}: outside of code: {prose[max(0, (found.start() if found else 0) - 30):][:80]!r}")


def part_markdown(work):
    if not tool("cmark-gfm"):
        return
    for f in FIXTURES:
        path = f"{work}/markdown_{f}.md"
        text = read(path)
        must(text.startswith("<!-- tracegate:report key="), f"{path}: the marker comes first")
        must(len(text.encode()) <= 65000, f"{path}: budget")
        check_page(path, render(path))
    page = render(f"{work}/everything.md")
    check_page("everything.md", page)
    names = [visible(bytes.fromhex(x)) for x in read(f"{work}/names.hex").split("\n")[:-1]]
    change = re.compile("[+-]?[0-9.]+\\s(ns|\u00b5s|ms|s)$")
    rows = [r for r in page.rows if len(r) > 1 and r[0][0] and change.match(r[1][1])]
    must(len(rows) == 1201, f"{len(rows)} rows")
    must(all(len(r) == 2 for r in rows), "two cells a row: one number")
    words = re.compile(r"((slower|faster|new|gone|more|fewer|some|renamed|\u2248), )?[0-9.]+\s(\u2192\s[0-9.]+\s)?calls?, ")
    must(all(words.match(r[0][1].strip()) for r in rows), "a name is code alone, and what follows are numbers")
    # 50 + 7919 i mod 1000 us: i = 0 and i = 1000 do not change. The first 1,200 have a result; of the others the three that
    # changed most. Names over 24 columns are shortened in the table; the fold gives the short form and the whole name.
    noise = sorted(range(1200, 2000), key=lambda i: -(7919 * i % 1000))[:3]
    want = sorted(names[i] for i in list(range(1200)) + noise if i not in (0, 1000))
    shown = [r[0][0] for r in rows]
    must(len(set(shown)) == len(shown), "two rows look the same")
    must(all(len(f) == 2 for f in page.folded), "a short form and its whole name")
    whole = {short: name for short, name in page.folded}
    must(len(whole) == len(page.folded), "two whole names have one short form")
    must({whole[n] for n in set(whole) - set(shown)} <= {names[0], names[1000]}, "a short form that no row has")
    got = sorted(whole.get(n, n) for n in shown)
    must([n for n in want if n not in got] == [], f"{sum(n not in got for n in want)} names are lost")



# ---- SVG ---------------------------------------------------------------------------------------

def part_svg(work):
    paths = [f"{work}/svg-{k}_{f}.svg" for f in FIXTURES for k in ("counts", "durations")]
    for path in paths:
        root = ET.parse(path).getroot()
        text = read(path)
        for bad in ("<script", "<foreignObject", "href", "@import", "url(http", "onload"):
            must(bad not in re.sub(r">[^<]*<", "><", text), f"{path}: {bad}")
        tags = {e.tag.split("}")[1] for e in root.iter()}
        must({"title", "desc", "style"} <= tags, f"{path}: {tags}")
        w, h = float(root.get("width")), float(root.get("height"))
        for e in root.iter():
            tag = e.tag.split("}")[1]
            if tag == "text":
                must(0 <= float(e.get("x")) <= w and 0 <= float(e.get("y")) <= h, f"{path}: text outside")
                if e.get("class") == "name":
                    must(len(e.text) <= 45, f"{path}: {e.text!r} is too long")
            if tag == "rect" and e.get("x"):
                x = float(e.get("x"))
                must(0 <= x and x + float(e.get("width")) <= w, f"{path}: bar outside")
    if tool("xmllint"):
        for path in paths:
            must(xmllint(path), f"{path} is not well-formed")
    if tool("rsvg-convert"):
        for path in paths:
            png = path[:-3] + "png"
            must(run(["rsvg-convert", path, "-o", png]).returncode == 0, f"rsvg-convert {path}")
            must(read(png, "rb")[:4] == b"\x89PNG", f"{png}: no picture")


def screenshot(browser, work, url, png, dark=False):
    args = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--no-first-run", "--window-size=980,470", f"--screenshot={png}",
            f"--user-data-dir={work}/chromium"]
    args += ["--blink-settings=preferredColorScheme=0"] if dark else []
    if os.path.exists(png):
        os.remove(png)
    try:
        run(args + [url], timeout=60)
    except subprocess.TimeoutExpired:
        pass
    return read(png, "rb") if os.path.exists(png) else b""


def part_chromium(work):
    browser = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)),
                   "chromium")
    if not tool(browser):
        return
    if not screenshot(browser, work, "data:text/plain,x", f"{work}/blank.png"):
        skipped.append(f"{browser} (does not run here)")
        return
    url = f"file://{os.path.abspath(work)}/svg-durations_fail.svg"
    light = screenshot(browser, work, url, f"{work}/light.png")
    dark = screenshot(browser, work, url, f"{work}/dark.png", dark=True)
    must(light and dark, "no picture of the chart")
    must(light != dark, "light and dark look the same")


# ---- annotations -------------------------------------------------------------------------------

def part_annotations(work):
    for f in FIXTURES:
        lines = read(f"{work}/annotations_{f}.txt").split("\n")
        must(lines.pop() == "", f"{f}: ends without a line end")
        must(len(lines) <= 10, f"{f}: {len(lines)} annotations")
        for line in lines:
            m = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
            must(m, f"{f}: {line}")
            must("##[" not in line and len(m[3]) < 4096, f"{f}: {line}")
            for pair in m[2].split(","):
                must(re.fullmatch(r"(file|line|title)=.*", pair), f"{f}: property {pair}")


def main():
    program, work, *wanted = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    must(run([program, "--dump", work]).returncode == 0, "test_reporters --dump")
    faults = 0
    parts = {k[5:]: v for k, v in globals().items() if k.startswith("part_")}
    for name, part in parts.items():
        if wanted and name not in wanted:
            continue
        before = len(skipped)
        try:
            part(work)
            print(f"{name}: {'ok' if len(skipped) == before else 'skipped in part: ' + ', '.join(skipped[before:])}")
        except Fault as e:
            faults += 1
            print(f"{name}: FAILED: {e}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
