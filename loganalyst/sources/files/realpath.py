"""Real paths of many files. Each folder is resolved once, while `os.path.realpath` asks for every part of a path."""

import os

_NO_NAMES = frozenset({"", os.curdir, os.pardir})


class RealPaths:
    """Remembers resolved folders. Use it for one walk only: folders change."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def resolve(self, path: str, *, real: bool = False) -> str:
        """The same as `os.path.realpath`; `real`: the last part of the path is surely no link."""
        folder, _, name = path.rpartition(os.sep)
        if name in _NO_NAMES or not folder or (not real and os.path.islink(path)):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.join(os.path.realpath(folder), "")
        return self._folders[folder] + name
