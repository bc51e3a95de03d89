#!/usr/bin/env python3
"""The store over HTTPS with tokens: git-http-backend with Basic auth and a certificate of our own, the
token where actions/checkout puts it (http.extraheader) or in the address. The table says what must come out; nothing may ask, and no token may be
printed.
"""
import base64
import http.server
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

from support import TRACES, expect, finish, git, skip, tracegate, write_text

BACKEND = "/usr/lib/git-core/git-http-backend"
RIGHTS = {"ghs_writer": ("upload", "receive"), "ghs_reader": ("upload",)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def refuse(self, status, text):
        body = text.encode()
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            out = b""
            while True:
                n = int(self.rfile.readline(), 16)
                out += self.rfile.read(n)
                self.rfile.readline()
                if n == 0:
                    return out
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def handle_any(self):
        path, _, query = self.path.partition("?")
        body = self.body()
        given = self.headers.get("Authorization", "")
        token = base64.b64decode(given.split(" ")[1]).decode().split(":", 1)[1] if given.lower().startswith("basic ") else ""
        service = "receive" if "receive-pack" in self.path else "upload"
        self.server.seen.append((token, service))
        if token not in RIGHTS:
            return self.refuse(401, "who are you?")
        if service not in RIGHTS[token]:
            return self.refuse(403, "remote: Write access to repository not granted.\n")
        env = {"GIT_PROJECT_ROOT": self.server.root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
               "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "t",
               "CONTENT_LENGTH": str(len(body)), "PATH": os.environ["PATH"], "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run([BACKEND], input=body, env=env, capture_output=True)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for k, v in fields.items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    do_GET = do_POST = handle_any


def serve(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder + "/key.pem", "-out",
                    folder + "/cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                   check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.root, server.seen = folder, []
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def baseline(where, *args):
    return tracegate("baseline", *args, cwd=where, timeout=120, stdin=subprocess.DEVNULL)


def clone(folder, name, url, token, how):
    """As actions/checkout leaves it: the token in the configuration; or in the address; or nowhere."""
    path = os.path.join(folder, name)
    git(folder, "clone", "-q", folder + "/server.git", path)
    header = "AUTHORIZATION: basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()
    git(path, "config", "http.sslCAInfo", folder + "/cert.pem")
    if how == "header":
        git(path, "config", f"http.{url.rsplit('/', 1)[0]}/.extraheader", header)
    git(path, "remote", "set-url", "origin", url.replace("://", f"://t:{token}@") if how == "address" else url)
    return path


def main():
    for tool in (BACKEND, shutil.which("openssl")):
        if not tool or not os.path.exists(tool):
            skip("git-http-backend or openssl is missing")
    with tempfile.TemporaryDirectory() as folder:
        git(folder, "init", "-q", "--bare", "-b", "main", "server.git")
        git(folder, "init", "-q", "-b", "main", "w")
        write_text(folder + "/w/x", "x")
        git(folder + "/w", "add", "-A")
        git(folder + "/w", "commit", "-q", "-m", "x")
        git(folder + "/w", "push", "-q", folder + "/server.git", "main")
        git(folder + "/server.git", "config", "http.receivepack", "true")
        server = serve(folder)
        url = f"https://localhost:{server.server_address[1]}/server.git"
        # name, token, where it is, command -> exit code, what is said, refs on the server afterwards
        table = [
            ("push, no token", "", "none", "push", 3, "contents: write", 0),
            ("push, a token that is none", "ghs_other", "header", "push", 3, "contents: write", 0),
            ("push, may only read", "ghs_reader", "header", "push", 3, "contents: write", 0),
            ("push", "ghs_writer", "header", "push", 0, "pushed 1 run", 1),
            ("push again", "ghs_writer", "header", "push", 0, "1 there already", 1),
            ("fetch, may only read", "ghs_reader", "header", "fetch", 0, "1 run", 1),
            ("fetch, token in the address", "ghs_reader", "address", "fetch", 0, "1 run", 1),
            ("fetch, a token that is none", "ghs_other", "header", "fetch", 3, "", 1),
            ("fetch, a token that is none, in the address", "ghs_other", "address", "fetch", 3, "", 1),
        ]
        for i, (name, token, how, command, code, says, refs) in enumerate(table):
            c = clone(folder, f"c{i}", url, token, how)
            if command == "push":
                expect(f"{name}: record", baseline(c, "record", f"{TRACES}/base/run00.json.gz").returncode, 0)
            run = baseline(c, command, "--commit", "HEAD") if command == "fetch" else baseline(c, command)
            text = run.stdout + run.stderr
            expect(f"{name}: exit code {text}", run.returncode, code)
            expect(f"{name}: says {says!r} in {text!r}", says in text, True)
            expect(f"{name}: token printed in {text!r}", bool(token) and token in text, False)
            expect(f"{name}: refs", len(git(folder + "/server.git", "for-each-ref", "refs/tracegate").splitlines()), refs)
            if command == "fetch" and code == 0:
                expect(f"{name}: there", len(git(c, "for-each-ref", "refs/tracegate").splitlines()), 1)
        # the certificate is checked
        c = clone(folder, "untrusted", url, "ghs_reader", "header")
        git(c, "config", "--unset", "http.sslCAInfo")
        run = baseline(c, "fetch", "--commit", "HEAD")
        expect(f"certificate: {run.stderr}", (run.returncode, "certificate" in run.stderr.lower()), (3, True))
        expect("both services were asked", {s for _, s in server.seen}, {"upload", "receive"})
        server.shutdown()
    return finish(f"https: {len(table) + 1} cases")


sys.exit(main())
