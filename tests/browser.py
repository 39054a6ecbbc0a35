"""A headless Chromium, spoken to through its pipe of the DevTools protocol. Tests that need it are skipped without."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe")
PATIENCE = 120  # seconds, for a busy machine


class Browser:
    """One tab of a browser of its own."""

    def __init__(self):
        told, self._out = os.pipe()
        self._in, answers = os.pipe()
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        words = [PROGRAM, *FLAGS, f"--user-data-dir={self._home.name}"]
        redirected = ["bash", "-c", f'exec "$@" 3<&{told} 4>&{answers}', "bash", *words]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(redirected, pass_fds=(told, answers), **silent)
        os.close(told)
        os.close(answers)
        self._numbers, self._unread, self._session, self.complaints = itertools.count(1), b"", None, []
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.requests = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._home.cleanup()

    def open(self, file, width, height, dark=False):
        """Open a file in a window of this size, and wait until it is there."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=file.as_uri())
        while self.value("document.readyState") != "complete":
            time.sleep(0.05)

    def value(self, expression):
        """What an expression comes to in the page."""
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def press(self, key):
        """Press a key and let it go."""
        text = {"text": key} if len(key) == 1 else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self):
        """The window as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    def ask(self, method, **parameters):
        """Call a method of the protocol, noting complaints and requests that come in meanwhile."""
        number = next(self._numbers)
        session = {} if self._session is None else {"sessionId": self._session}
        os.write(
            self._out, json.dumps({"id": number, "method": method, "params": parameters, **session}).encode() + b"\0"
        )
        while True:
            message = self._read()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.complaints.append(message["params"])
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])

    def _read(self):
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            more = os.read(self._in, 1 << 16) if ready else b""
            assert more, "the browser says nothing"
            self._unread += more
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)
