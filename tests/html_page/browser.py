"""A real Chromium without a window, asked over its own pipe (Chrome DevTools Protocol, ``--remote-debugging-pipe``)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The program: what CHROMIUM names, or the first one that is installed."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    found = [path for path in map(shutil.which, PROGRAMS) if path]
    return found[0] if found else None


class Browser:
    """A browser with one page at a time. ``profile``: a folder of its own."""

    def __init__(self, program: str, profile: Path) -> None:
        asked, self._ask = os.pipe()
        self._answers, answered = os.pipe()
        options = f"--headless --no-sandbox --remote-debugging-pipe --user-data-dir='{profile}'"
        command = f"exec '{program}' {options} about:blank 3<&{asked} 4>&{answered}"
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(asked, answered),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(asked)
        os.close(answered)
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        self._page = self._session = ""

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._ask)  # a browser whose pipe ends ends itself
        self._process.wait(timeout=30)
        os.close(self._answers)

    def open(self) -> None:
        """Open a page; what an earlier one reported is forgotten."""
        self._page = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=self._page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Close the page."""
        self._call("Target.closeTarget", targetId=self._page)

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """One command to the page, and its answer; the page's events that come before it are kept."""
        return self._call(method, self._session, **values)

    def _call(self, method: str, session: str | None = None, **values: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if session:
            message["sessionId"] = session
        os.write(self._ask, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            if answer.get("sessionId") == self._session:
                self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def show(self, file: Path, *, width: int, dark: bool = False) -> None:
        """Load a file at a width, in light or dark colours, and wait until it is there."""
        scheme = "dark" if dark else "light"
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri())
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done() : onload = done)"
        )

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; of a promise, what it comes to."""
        done = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"Enter": "\r"}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def picture(self) -> bytes:
        """The visible part of the page as PNG."""
        shot = self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(shot["data"])
