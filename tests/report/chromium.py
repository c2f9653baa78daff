"""Drive a headless Chromium over its debugging pipe, with nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
COMMAND = next((path for name in NAMES if (path := shutil.which(name))), None)
MISSING = "no chromium on this machine (Debian: apt-get install chromium)"


class Chromium:
    """One page in one browser; everything that it logs or asks the network for is kept."""

    def __init__(self, folder, width=1200, height=900):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # the browser reads commands from 3 and answers on 4
        arranged = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        command = [
            "bash", "-c", arranged, "bash", str(theirs_in), str(theirs_out), COMMAND, "--headless=new",
            "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", f"--user-data-dir={folder}",
            f"--window-size={width},{height}", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._buffer, self._number, self._session = b"", 0, None
        self.events = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        os.close(self._in)
        os.close(self._out)

    def ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._until(lambda answer: answer.get("id") == self._number)

    def _until(self, wanted, seconds=60):
        end = time.monotonic() + seconds
        while True:
            while b"\0" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\0")
                answer = json.loads(line)
                if wanted(answer):
                    if "error" in answer:
                        raise RuntimeError(answer["error"])
                    return answer.get("result", answer)
                self.events.append(answer)
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self._buffer += part

    def open(self, path):
        self.ask("Page.navigate", url="about:blank")  # else another part of the same page is no new page
        self._until(lambda answer: answer.get("method") == "Page.loadEventFired")
        self.events.clear()
        self.ask("Page.navigate", url=f"file://{path}")
        self._until(lambda answer: answer.get("method") == "Page.loadEventFired")

    def run(self, code):
        """Value of an expression on the page."""
        # the protocol's own evaluation is not bound by the page's content security policy
        answer = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def resize(self, width, height):
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def picture(self, **options):
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png", **options)["data"])

    def paper(self):
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def complaints(self):
        """What the console says: errors, warnings, exceptions, what the policy refused."""
        out = []
        for event in self.events:
            method, told = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                out.append(told["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled":
                out.append(f"console.{told['type']}")
            elif method == "Log.entryAdded":
                out.append(told["entry"]["text"])
        return out

    def requests(self):
        """Addresses that were asked for, but the page's own and those that carry their data."""
        found = [
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in found if not url.startswith("data:")]
