"""Pictures of reports for the docs: `python -m docs.generate_screenshots`. Needs Chromium; writes docs/images/."""

import tempfile
from pathlib import Path

import polars as pl
from PIL import Image

import loganalyst
from loganalyst.report import auditpage, html
from tests.report.browser import Browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
# name -> run of the fixtures, what of its page is shown, the window
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


def main() -> None:
    """Write every picture anew."""
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
        browser.open(audited(Path(folder)), width=1200, height=860)
        browser.say("document.querySelectorAll('tr.run button')[1].click()")
        keep(browser, "audit")


def audited(folder: Path) -> Path:
    """The page of an audit, with the reports it links."""
    runs = [ROOT / "fixtures" / "runs" / run for run in AUDITED]
    found = loganalyst.audit(runs, reports=folder / "reports")
    here, runs_told = str(ROOT / "fixtures" / "runs"), "/scratch/experiments"  # no path of this machine in a picture
    told = found.runs.with_columns(pl.col("path").str.replace(here, runs_told, literal=True))
    groups = found.groups.with_columns(pl.col("example").str.replace(here, runs_told, literal=True))
    page = folder / "audit.html"
    page.write_text(auditpage.render(told, groups, found.contrasts, found.nodes, folder), encoding="utf-8")
    return page


def keep(browser: Browser, name: str) -> None:
    """The window as a picture of the docs."""
    picture = IMAGES / f"{name}.png"
    browser.picture(picture)
    Image.open(picture).convert("RGB").save(picture, optimize=True)
    print(f"{picture.relative_to(ROOT)}  {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
