"""A small GitHub for the tests: issues and their comments, with pages, refusals and bad days. Request
bodies are compared with GitHub's OpenAPI description where it is at hand.
"""
import functools
import http.server
import json
import os
import re
import socketserver
import subprocess
import sys
import threading
import urllib.parse

from support import absent, judged, need, skip

PACKAGE = "@octokit/openapi@23.0.2"
MEMBER = "package/generated/api.github.com.json"


def npm(arguments, folder, timeout=150):
    """True if npm did it. Without a network it gives up in seconds: its own pauses add up to minutes."""
    env = {**os.environ, "npm_config_fetch_retry_mintimeout": "1000", "npm_config_fetch_retry_maxtimeout": "3000"}
    try:
        return subprocess.run(["npm", *arguments], cwd=folder, timeout=timeout, env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def reachable(folder):
    return npm(["ping"], folder, 20)


def openapi(folder):
    """GitHub's OpenAPI description, fetched once into `folder`; None without npm or network."""
    path = os.path.join(folder, "api.github.com.json")
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(path):
        if not npm(["pack", "--silent", PACKAGE], folder):
            return None
        with open(path + ".part", "wb") as f:
            subprocess.run(["tar", "-xzOf", "octokit-openapi-23.0.2.tgz", MEMBER], cwd=folder, stdout=f, check=True)
        os.replace(path + ".part", path)
        os.remove(os.path.join(folder, "octokit-openapi-23.0.2.tgz"))
    with open(path, encoding="utf-8") as f:
        return json.load(f)


class Description:
    """Which operation a request is, and whether its body and parameters are right."""

    def __init__(self, document):
        import jsonschema
        self.document, self.validator = document, jsonschema.Draft7Validator
        self.paths = [(re.compile(re.sub(r"\{[^}]+\}", "[^/]+", p) + "$"), p) for p in document["paths"]]

    def errors(self, method, path, query, body):
        fits = [p for rx, p in self.paths if rx.match(path) and method.lower() in self.document["paths"][p]]
        if not fits:
            return [f"no operation {method} {path}"]
        op = self.document["paths"][min(fits, key=lambda p: p.count("{"))][method.lower()]
        out = self.parameters(op, query)
        content = op.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return out + ([] if body is None else ["a body where none belongs"])
        if body is None:
            return out + ["no body"]
        schema = dict(content["schema"], components=self.document["components"])
        return out + [e.message for e in self.validator(schema).iter_errors(body)]

    def parameters(self, op, query):
        known = {}
        for p in op.get("parameters", []):
            if "$ref" in p:
                p = self.document["components"]["parameters"][p["$ref"].rsplit("/", 1)[1]]
            if p["in"] == "query":
                known[p["name"]] = p
        return [f"unknown query parameter {k}" for k in query if k not in known]


class Mock(http.server.ThreadingHTTPServer):
    """`routes`: answers beside the comments, path -> JSON value or bytes. `plan`: what happens to the next requests, each (METHOD, status, headers);
    used up in order. `do_it`: a request that is answered by the plan still takes effect (a lost answer)."""

    def __init__(self, description=None, comments=(), page=100, read_only=False, issues=()):
        super().__init__(("127.0.0.1", 0), Handler)
        self.description, self.comments, self.page = description, list(comments), page
        self.read_only, self.plan, self.do_it, self.log, self.wrong = read_only, [], False, [], []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.next_id, self.routes, self.issues = 1000, {}, list(issues)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)  # without the look-up of this machine's name
        self.server_name, self.server_port = self.server_address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def writes(self):
        return [m for m, _ in self.log if m != "GET"]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value, headers=()):
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for k, v in dict(headers).items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def handle_any(self):
        s = self.server
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        s.log.append((self.command, self.path))
        for name, want in (("Authorization", "Bearer secret-token"), ("Accept", "application/vnd.github+json"),
                           ("X-GitHub-Api-Version", "2022-11-28"), ("User-Agent", "tracegate")):
            if self.headers.get(name) != want:
                s.wrong.append(f"{name}: {self.headers.get(name)}")
        if s.description:
            s.wrong += s.description.errors(self.command, url.path, query, body)
        if s.plan and s.plan[0][0] == self.command:
            _, status, headers = s.plan.pop(0)
            if s.do_it:
                self.effect(url.path, query, body)
            return self.answer(status, {"message": "Planned ::error::refusal\n::error::x"}, headers)
        return self.answer(*self.effect(url.path, query, body))

    def effect(self, path, query, body):
        s = self.server
        if self.command == "GET" and path in s.routes:
            return 200, s.routes[path]
        if self.command == "GET":
            return self.listing(path, query)
        if s.read_only:
            return 403, {"message": "Resource not accessible by integration"}
        if len(body.get("body", "")) > 65536:
            return 422, {"message": "Body is too long (maximum is 65536 characters)"}
        if path.endswith("/issues"):
            s.issues.append(issue(1 + max([i["number"] for i in s.issues], default=0), **body))
            return 201, s.issues[-1]
        if re.search(r"/issues/\d+$", path):
            one = next(i for i in s.issues if i["number"] == int(path.rsplit("/", 1)[1]))
            one.update(body)
            return 200, one
        if self.command == "POST":
            s.next_id += 1
            c = dict(comment(s.next_id, body["body"]), issue=issue_of(path))
            s.comments.append(c)
            return 201, c
        number = int(path.rsplit("/", 1)[1])
        for c in s.comments:
            if c["id"] == number:
                c["body"] = body["body"]
                return 200, c
        return 404, {"message": "Not Found"}

    def listing(self, path, query):
        s = self.server
        size, page = min(int(query.get("per_page", 30)), s.page), int(query.get("page", 1))
        if path.endswith("/issues"):
            here = [i for i in s.issues if query.get("labels", "") in [x["name"] for x in i["labels"]] and
                    query.get("state", "open") in ("all", i["state"])]
        else:
            here = [c for c in s.comments if c.get("issue", issue_of(path)) == issue_of(path)]
        items = here[(page - 1) * size:page * size]
        more = page * size < len(here)
        same = urllib.parse.urlencode({k: v for k, v in query.items() if k != "page"})
        link = f'<{s.url}{path}?{same}&page='
        last = (len(here) + size - 1) // size
        return 200, items, {"Link": f'{link}{page + 1}>; rel="next", {link}{last}>; rel="last"'} if more else {}

    do_GET = do_POST = do_PATCH = handle_any


def issue_of(path):
    return re.sub(r"^.*/issues/(\d+)/comments$", r"\1", path)


def issue(number, title="", body="", labels=(), state="open", login="github-actions[bot]", **more):
    return {"number": number, "title": title, "body": body, "state": state, "user": {"login": login},
            "labels": [{"name": x} for x in labels], **more}


def comment(number, body, login="github-actions[bot]"):
    return {"id": number, "body": body, "user": {"login": login},
            "html_url": f"https://github.com/o/r/pull/7#issuecomment-{number}"}


def described(self_check):
    """With --openapi FOLDER on the command line, the Description that the folder holds or gets; `self_check` has tried it. Else None."""
    if sys.argv[1:2] != ["--openapi"]:
        return None
    folder = sys.argv[2]
    document = openapi(folder)
    if document is None:
        why = "description of GitHub's API"
        (skip if os.environ.get("CI") and reachable(folder) else absent)(why)
    need("jsonschema", "python3-jsonschema")
    description = Description(document)
    self_check(description)
    return description


def with_mock(part):
    """A part of a script, (folder, mock), as one that needs the folder alone."""
    @functools.wraps(part)
    def whole(folder):
        with Mock() as mock:
            part(folder, mock)
            judged(not mock.wrong, f"{part.__name__}: wrong requests: {mock.wrong}")
    return whole


def expect_facts(name, mock, run, writes, code, said, facts):
    """What holds of every call of a script, and `facts`: (what, is, must be); what it said is printed with a fault."""
    log = run.stdout + run.stderr
    always = [("requests", mock.writes(), writes), ("exit code", run.returncode, code), ("said", said in log, True),
              ("rejected by the description", mock.wrong, []), ("token printed", "secret-token" in log, False),
              ("lines that are commands", re.findall(r"^::(?!warning title=tracegate::).*", log, re.M), [])]
    for what, got, want in always + facts:
        judged(got == want, f"{name}: {what}: got {got!r}, want {want!r}\n{log}")


def outside_code(markdown):
    """What GitHub would read as Markdown: without fences and code spans."""
    text = re.sub(r"^```.*?^```$", "", markdown, flags=re.S | re.M)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text, flags=re.S)
