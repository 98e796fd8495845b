"""Write pictures of reports to docs/images/: `python -m docs.generate_screenshots`. Needs Chromium."""

import fcntl
import os
import struct
import subprocess
import sys
import tempfile
import termios
from io import StringIO
from pathlib import Path

import polars as pl
from PIL import Image
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import loganalyst
from loganalyst.report import audit
from loganalyst.report.diagnosis import html
from tests.report.browser import Browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
# name -> run of the fixtures, selector of the shown part of its page, the window
SHOTS: dict[str, tuple[str, str, dict[str, int | bool]]] = {
    "report-diverged": ("divergence-lr", "", {"width": 1000, "height": 1000}),
    "report-oom": ("cuda-oom", "", {"width": 1000, "height": 680}),
    "report-layers-dark": ("vanishing-gradients", ".layers", {"width": 1000, "height": 330, "dark": True}),
    "report-healthy-phone": ("healthy-classifier", "", {"width": 390, "height": 640}),
}
AUDITED = (
    "cuda-oom",
    "divergence-lr",
    "nan-lr",
    "overfitting",
    "healthy-classifier",
    "healthy-graph",
)  # of the fixtures

TYPED = ("diagnose", "fixtures/runs/nan-lr")  # in the picture of the README
COLUMNS = 100
DARK = TerminalTheme(  # background, foreground, the eight colours
    (22, 27, 34),
    (230, 237, 243),
    [
        *((72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34)),
        *((88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)),
    ],
)
WINDOW = """<!doctype html><meta charset="utf-8"><style>{stylesheet}
body {{ background: {background}; color: {foreground}; margin: 0; padding: 28px 34px; }}
pre {{ font: 26px/1.28 "DejaVu Sans Mono", monospace; margin: 0; }}</style><pre>{code}</pre>"""


def main() -> None:
    """Write all pictures again."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for name, (run, part, window) in SHOTS.items():
            page = Path(folder, f"{name}.html")
            page.write_text(html.render(loganalyst.diagnose(ROOT / "fixtures" / "runs" / run)), encoding="utf-8")
            browser.open(page, **window)  # type: ignore[arg-type]
            if part:
                browser.say(
                    f"document.querySelector('{part}').scrollIntoView({{behavior: 'instant', block: 'center'}})"
                )
            keep(browser, name)
        terminal = typed(Path(folder))
        browser.open(terminal, width=1664, height=100)
        browser.open(terminal, width=1664, height=browser.say("document.documentElement.scrollHeight"))
        keep(browser, "terminal")
        browser.open(audited(Path(folder)), width=1200, height=860)
        browser.say("document.querySelectorAll('tr.run button')[1].click()")
        keep(browser, "audit")


def typed(folder: Path) -> Path:
    """A page that looks like a terminal after a command."""
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text(f"$ loganalyst {' '.join(TYPED)}", "bold"))
    console.print(Text.from_ansi(printed(*TYPED)))
    page = folder / "terminal.html"
    page.write_text(console.export_html(theme=DARK, code_format=WINDOW), encoding="utf-8")
    return page


def printed(*arguments: str) -> str:
    """The output of a command on a terminal, with colours, which a pipe would not get."""
    reader, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "COLUMNS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "loganalyst.cli", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=terminal, env=environment)
    os.close(terminal)
    parts = []
    try:
        while part := os.read(reader, 1 << 16):
            parts.append(part)
    except OSError:  # Linux raises it when the other end is closed
        pass
    process.wait()
    os.close(reader)
    return b"".join(parts).decode().replace("\r\n", "\n")


def audited(folder: Path) -> Path:
    """The page of an audit, and the reports that it links to."""
    runs = [ROOT / "fixtures" / "runs" / run for run in AUDITED]
    found = loganalyst.audit(runs, reports=folder / "reports")
    here, neutral = str(ROOT / "fixtures" / "runs"), "/scratch/experiments"  # no path of this machine in a picture
    rows = found.runs.with_columns(pl.col("path").str.replace(here, neutral, literal=True))
    groups = found.groups.with_columns(pl.col("example").str.replace(here, neutral, literal=True))
    page = folder / "audit.html"
    page.write_text(audit.render(rows, groups, found.contrasts, found.nodes, folder), encoding="utf-8")
    return page


def keep(browser: Browser, name: str) -> None:
    """Save the window as a picture of the docs."""
    picture = IMAGES / f"{name}.png"
    browser.picture(picture)
    Image.open(picture).convert("RGB").save(picture, optimize=True)
    print(f"{picture.relative_to(ROOT)}  {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
