"""Real paths of many files: each folder is resolved once, where `os.path.realpath` asks for every part of a path."""

import os


class RealPaths:
    """Remembers folders: for one look at some trees, not for long."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        """As `os.path.realpath`."""
        folder, _, name = path.rpartition(os.sep)
        if name in {"", os.curdir, os.pardir} or not folder or os.path.islink(path):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.join(os.path.realpath(folder), "")
        return self._folders[folder] + name
