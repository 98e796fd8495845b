"""A folder is resolved once; links are followed as the system follows them."""

import os
from pathlib import Path

from loganalyst.sources.files.realpath import RealPaths


def test_as_the_system_resolves_them(tmp_path: Path) -> None:
    """Files, links to files and folders, what does not exist, and dots."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_text("")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a/other").symlink_to("file")
    names = ("a/file", "link/file", "link/other", "link/none", "link", "a/..", "a/", "link/.", "none/none")
    real = RealPaths()

    for name in (*(f"{tmp_path}/{name}" for name in names), "/", ".", "file"):
        assert real.resolve(name) == os.path.realpath(name), name
