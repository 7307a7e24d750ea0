"""A headless Chromium over its debugging pipe: opens a page, evaluates, presses keys, draws.

The pipe needs no library: commands and answers are JSON, each ended by a zero byte, on descriptors
3 and 4 of the browser.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_HANG_S = 300.0
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    "--hide-scrollbars",
    *("--no-first-run", "--disable-background-networking", "--disable-extensions"),
)


def found() -> str | None:
    """Return the browser's command, or None where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class Browser:
    """A page in a browser of its own; `complaints` has what its console said and what it fetched.

    Parameters
    ----------
    page
        The file to open, or an address, whose server it may ask.
    folder
        For the browser's own files.
    width, height
        Of the window, in pixels.
    """

    def __init__(
        self, page: Path | str, folder: Path, width: int = 1280, height: int = 900
    ) -> None:
        self.complaints: list[str] = []
        url = page.as_uri() if isinstance(page, Path) else page
        own = () if isinstance(page, Path) else (page.partition("#")[0],)
        self._expected = ("file:", "data:", "about:", *own)
        self._answers: dict[int, dict[str, Any]] = {}
        self._rest, self._number, self._session = b"", 0, ""
        theirs_in, ours_out = _high_pipe()
        ours_in, theirs_out = _high_pipe()
        self._in, self._out = ours_in, ours_out
        command = (str(found()), *_FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder}")
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.ask(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.ask("Page.navigate", url=url)
        self.wait_for('document.readyState === "complete"')

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while self._number not in self._answers:
            self._read()
        answer = self._answers.pop(self._number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def value(self, expression: str) -> Any:
        """Evaluate an expression in the page; of a promise what it comes to."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = self.ask("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key, such as ``ArrowRight``."""
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        codes |= {"Home": 36, "End": 35, "Enter": 13, "Escape": 27}
        for kind in ("rawKeyDown", "keyUp"):
            parameters = {"type": kind, "key": key, "code": key}
            self.ask("Input.dispatchKeyEvent", **parameters, windowsVirtualKeyCode=codes[key])

    def click(self, x: float, y: float) -> None:
        """Move the pointer to a place of the window, press its button and release it."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def touch(self, x: float, y: float) -> None:
        """Touch a place of the window and let go."""
        self.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def middle(self, element: str) -> tuple[float, float]:
        """Scroll to what an expression names, and return where its middle is in the window."""
        x, y = self.value(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return x, y

    def picture(self) -> bytes:
        """Draw the whole page as PNG."""
        drawn = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(drawn["data"])

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _HANG_S
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def _read(self) -> None:
        ready, _, _ = select.select([self._in], [], [], _HANG_S)
        assert ready, "the browser says nothing any more"
        chunk = os.read(self._in, 1 << 16)
        assert chunk, "the browser has ended"
        *whole, self._rest = (self._rest + chunk).split(b"\0")
        for text in whole:
            self._note(json.loads(text))

    def _note(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        method, parameters = message["method"], message["params"]
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(f"{method}: {json.dumps(parameters)}")
        if method == "Network.requestWillBeSent":
            url = str(parameters["request"]["url"])
            if not url.startswith(self._expected):
                self.complaints.append(f"fetches {url}")

    def close(self) -> None:
        """End it: without its pipe it goes by itself."""
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _high_pipe() -> tuple[int, int]:
    """Make a pipe whose descriptors are not those that the shell moves it to."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
