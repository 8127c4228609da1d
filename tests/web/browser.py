"""A real browser for the tests: Chromium, spoken to over a pipe in its DevTools protocol; it needs no package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "pages are tested in a real browser and there is none: run tests/web/install_browser.sh, or install chromium"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# The browser reads commands from descriptor 3 and answers on 4.
_START = """
import fcntl, os, sys
high = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]
for place, one in enumerate(high):
    os.dup2(one, 3 + place)
os.execv(sys.argv[3], sys.argv[3:])
"""
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class BrowserError(Exception):
    """The browser is not there, refused a command or ran into an error of the page's script."""


class Browser:
    """One browser process with one page."""

    def __init__(self) -> None:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise BrowserError(MISSING)
        self._folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        folder = f"--user-data-dir={self._folder.name}"
        its_input, self._output = os.pipe()
        self._input, its_output = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(its_input), str(its_output), program, *FLAGS, folder, "about:blank"],
            pass_fds=(its_input, its_output),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(its_input)
        os.close(its_output)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        page = next(one for one in self._targets() if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._input)
        os.close(self._output)
        self._folder.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the protocol and its answer."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._output, json.dumps(command).encode() + b"\0")
        while True:
            answer = self._next(30)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def open(
        self, file: Path, *, width: int = 1200, height: int = 900, dark: bool = False, script: bool = True
    ) -> None:
        """Load a page in a window of a size and wait until it is there."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri())
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._next(30))

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        """The text of the first element that fits, as it is shown."""
        return str(self.ask(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that fit."""
        found: list[str] = self.ask(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText)")
        return found

    def place(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is, after it was brought into view."""
        corner = self.ask(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
            f" return [r.x + r.width / 2, r.y + r.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
        )
        return corner[0], corner[1]

    def click(self, selector: str) -> None:
        """A press of the mouse in the middle of an element."""
        x, y = self.place(selector)
        self.point(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point(self, x: float, y: float) -> None:
        """The mouse at a place."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """A key, down and up."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key], **more)

    def type(self, text: str) -> None:
        """Text where the focus is."""
        self.call("Input.insertText", text=text)

    def complaints(self) -> list[str]:
        """Errors and warnings that the page has caused since it was opened."""
        self.ask("0")
        found = []
        for one in self.events:
            if one["method"] == "Runtime.exceptionThrown":
                found.append(one["params"]["exceptionDetails"].get("text", "exception"))
            elif one["method"] == "Runtime.consoleAPICalled":
                found.append(str(one["params"]["args"]))
            elif one["method"] == "Log.entryAdded":
                found.append(one["params"]["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that the page has asked for since it was opened."""
        self.ask("0")
        return [one["params"]["request"]["url"] for one in self.events if one["method"] == "Network.requestWillBeSent"]

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """A screenshot as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))["data"]
        file.write_bytes(base64.b64decode(data))

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}}

    def _targets(self) -> list[dict[str, Any]]:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            found: list[dict[str, Any]] = self.call("Target.getTargets")["targetInfos"]
            if any(one["type"] == "page" for one in found):
                return found
            time.sleep(0.1)
        raise BrowserError("the browser opened no page")

    def _next(self, seconds: float) -> dict[str, Any]:
        until = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._input], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._input, 1 << 16) if ready else b""
            if not more:
                raise BrowserError("the browser gave no answer" if not ready else "the browser ended")
            self._buffer += more
        answer, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(answer)
        return found
