"""A headless Chromium that is driven through a pipe: pages, keys, and what scripts on the page find."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37}


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="td-site-")
        to_read, self.to_write = os.pipe()
        self.to_hear, to_say = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"]
        # Chromium reads commands from descriptor 3 and answers on 4.
        command = f'exec chromium "$@" 3<&{to_read} 4>&{to_say} 2>/dev/null'
        self.process = subprocess.Popen(["bash", "-c", command, "chromium", *options], pass_fds=(to_read, to_say),
                                        stdout=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_say)
        self.number, self.rest, self.session, self.errors, self.events = 0, b"", None, [], set()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(20)
        except (EOFError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
        shutil.rmtree(self.profile, ignore_errors=True)

    def hear(self):
        while b"\0" not in self.rest:
            more = os.read(self.to_hear, 1 << 16)
            if not more:
                raise EOFError("chromium has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        heard = json.loads(message)
        method = heard.get("method")
        if method == "Runtime.exceptionThrown":
            details = heard["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        if method == "Log.entryAdded" and heard["params"]["entry"]["level"] == "error":
            self.errors.append(heard["params"]["entry"]["text"] + " " + heard["params"]["entry"].get("url", ""))
        if method:
            self.events.add(method)
        return heard

    def call(self, method, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.to_write, json.dumps(asked).encode() + b"\0")
        while True:
            heard = self.hear()
            if heard.get("id") == self.number:
                if "error" in heard:
                    raise RuntimeError(f"{method}: {heard['error']['message']}")
                return heard["result"]

    def size(self, width, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def wait_loaded(self):
        while "Page.loadEventFired" not in self.events:
            self.hear()

    def open(self, file):
        """Shows a page; gives the errors of its scripts."""
        self.errors.clear()
        self.events.clear()
        self.call("Page.navigate", url=f"file://{file}")
        self.wait_loaded()
        return self.errors

    def run(self, script):
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"]["description"])
        return done["result"].get("value")

    def press(self, key, shift=False):
        code = KEYS.get(key) or ord(key.upper())
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def shot(self, file):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))
