"""Headless Chromium, driven over its debugging pipe with the standard library alone.

    with Browser() as b:              # Missing: no chromium here
        page = b.open("/tmp/page.html")
        page.run("document.title")    # the value of a JavaScript expression
        page.requests, page.errors    # addresses asked for; console errors and violations so far
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


class Missing(Exception):
    pass


class Browser:
    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise Missing("no chromium here")
        self.folder = tempfile.TemporaryDirectory()
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        # Chromium reads descriptor 3 and writes 4; a shell moves ours there.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 3<&{to_child} 4>&{from_child}', "sh", program, "--headless=new",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--user-data-dir=" + self.folder.name],
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.rest, self.events, self.last = b"", [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder.name, ignore_errors=True)
        self.folder.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise Missing("chromium ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            got = self.read()
            if got.get("id") == self.last:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def wait(self, session, method):
        while True:
            for e in self.events:
                if e.get("sessionId") == session and e.get("method") == method:
                    return e["params"]
            self.events.append(self.read())

    def open(self, path, **options):
        return Page(self, path, **options)


class Page:
    """`width` px wide; `dark`; `script` False: JavaScript is off, and `run` still works; `media` "print"."""

    def __init__(self, browser, path, width=1200, height=900, dark=False, script=True, media=""):
        self.b = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        browser.wait(self.session, "Page.loadEventFired")

    def call(self, method, **params):
        return self.b.call(method, self.session, **params)

    def run(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def key(self, key, code=None, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13, "Tab": 9, "Escape": 27}.get(key, 0))

    def settle(self):
        """Lets what is pending arrive; a promise would not end where JavaScript is off."""
        time.sleep(0.2)
        self.call("Page.getLayoutMetrics")

    def _mine(self, *methods):
        return [e for e in self.b.events if e.get("sessionId") == self.session and e["method"] in methods]

    @property
    def requests(self):
        return [e["params"]["request"]["url"] for e in self._mine("Network.requestWillBeSent")]

    @property
    def refused(self):
        """(address, reason) of what was not loaded, "csp" by the page's own policy."""
        url = {e["params"]["requestId"]: e["params"]["request"]["url"] for e in self._mine("Network.requestWillBeSent")}
        return [(url[e["params"]["requestId"]], e["params"].get("blockedReason")) for e in self._mine("Network.loadingFailed")]

    @property
    def errors(self):
        out = [e["params"]["entry"]["text"] for e in self._mine("Log.entryAdded")]
        out += [e["params"]["exceptionDetails"]["text"] for e in self._mine("Runtime.exceptionThrown")]
        return out + [json.dumps(e["params"]["issue"]) for e in self._mine("Audits.issueAdded")]

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))
