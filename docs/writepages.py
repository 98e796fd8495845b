"""Write the pages of a generated folder of the documentation."""

import sys
from collections.abc import Mapping
from pathlib import Path


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Write `pages` (text by file name) to `folder`, and remove every other page there."""
    folder.mkdir(exist_ok=True)
    for stale in set(folder.glob("*.md")) - {folder / name for name in pages}:
        stale.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{folder}: {len(pages)} pages\n")
