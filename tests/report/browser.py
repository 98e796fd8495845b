"""A headless Chromium driven over a pipe by its DevTools protocol: no driver and no package is needed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PLACE = next(filter(None, map(shutil.which, NAMES)), None)
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """One page of one browser. `requests` are the addresses it asked for, `complaints` what stood on its console."""

    def __enter__(self) -> Self:
        assert PLACE is not None
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command_read, self._write = os.pipe()
        self._read, answer_write = os.pipe()
        self._program = subprocess.Popen(
            [
                "bash",  # the protocol wants descriptors 3 and 4; sh takes single digits alone
                "-c",
                f'exec "$0" "$@" 3<&{command_read} 4>&{answer_write}',
                PLACE,
                *QUIET,
                f"--user-data-dir={self.folder.name}",
                "about:blank",
            ],
            pass_fds=(command_read, answer_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_read)
        os.close(answer_write)
        self._rest, self._number, self._session = b"", 0, None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = 0
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._program.terminate()
        self._program.wait()
        os.close(self._write)
        os.close(self._read)
        self.folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one call; what happens meanwhile is taken down."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._until(lambda m: m.get("id") == self._number)["result"]

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            while b"\0" not in self._rest:
                part = os.read(self._read, 1 << 20)
                if not part:
                    raise EOFError("the browser has gone")
                self._rest += part
            raw, _, self._rest = self._rest.partition(b"\0")
            message = json.loads(raw)
            self._note(message)
            if wanted(message):
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message

    def _note(self, message: dict[str, Any]) -> None:
        told = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(told["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(told["args"]))
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["exceptionDetails"]))
            case "Page.javascriptDialogOpening":
                self.complaints.append(f"a dialog: {told['message']}")
            case "Page.loadEventFired":
                self._loaded += 1

    def open(
        self, page: Path, *, width: int = 1280, height: int = 800, dark: bool = False, script: bool = True
    ) -> None:
        """Load a file and wait until it is there."""
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.requests, self.complaints, loaded = [], [], self._loaded
        self.call("Page.navigate", url=page.resolve().as_uri())
        if self._loaded == loaded:
            self._until(lambda m: m.get("method") == "Page.loadEventFired")

    def say(self, expression: str) -> Any:
        """The value of an expression on the page."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """`mouseMoved`, `mousePressed`, `mouseReleased` or `mouseWheel` at a place of the window."""
        pressed = {"button": "left", "clickCount": 1} if kind in ("mousePressed", "mouseReleased") else {}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **{**pressed, **more})

    def key(self, name: str) -> None:
        """Press and release a key."""
        text = {"text": name} if len(name) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A PNG of the window, or of the whole page."""
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))

    def pdf(self, path: Path) -> None:
        """What the page would print."""
        told = self.call("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)
        path.write_bytes(base64.b64decode(told["data"]))
