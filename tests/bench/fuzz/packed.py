"""The promise for compressed files, by the standard library's own decoders."""

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loganalyst.model import Tables
from tests.bench.fuzz.promises import Fault
from tests.bench.fuzz.seeds import Seed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECODERS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".zst": zstd.ZstdDecompressor,
    ".xz": lzma.LZMADecompressor,
    ".bz2": bz2.BZ2Decompressor,
}


class Packed:
    """The promise for compressed files; `content` gives what was made of the last one, None where it is no such."""

    def __init__(self, seeds: Sequence[Seed], content: Callable[[], bytes | None]) -> None:
        self.members = {member for seed in seeds for member in _members(seed.data, seed.path)}
        self.content = content

    def __call__(self, tables: Tables, data: bytes, seed: Seed) -> Iterator[Fault]:
        content = self.content()
        if content is None:
            return
        same = _same(data, seed.data)
        sure = b"".join(_members(seed.data[:same], seed.path))
        if not content.startswith(sure):
            yield Fault("lost", f"{len(sure)} bytes stand before the damage, not all of them are read ({len(content)})")
        if not tables.gaps["why"].str.contains("gzip|zstd|xz|bzip2").any() and not self._known(content):
            yield Fault("wrong", f"{len(content)} bytes that nobody wrote, and no gap that says so")

    def _known(self, content: bytes) -> bool:
        while content and (member := next((m for m in self.members if content.startswith(m)), b"")):
            content = content[len(member) :]
        return not content


def _same(data: bytes, seed: bytes) -> int:
    """How many bytes at the beginning are the seed's."""
    size = min(len(data), len(seed))
    different = np.frombuffer(data, np.uint8, size) != np.frombuffer(seed, np.uint8, size)
    return int(different.argmax()) if different.any() else size


def _members(data: bytes, path: str) -> Iterator[bytes]:
    """The content of one member after another, as far as they go."""
    while data:
        decoder = DECODERS[Path(path).suffix]()
        yield decoder.decompress(data)
        data = decoder.unused_data
