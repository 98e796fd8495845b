"""Paths of many runs, shortened by the folder that holds all of them."""

import os

__all__ = ["common_root", "short"]


def common_root(paths: list[str]) -> str:
    """The folder that holds all paths; empty for fewer than two paths."""
    return os.path.commonpath(paths) if len(paths) > 1 else ""


def short(path: str, root: str) -> str:
    """The path relative to the common folder."""
    return os.path.relpath(path, root) if root else path
