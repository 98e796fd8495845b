"""Checkpoints of torch.distributed.checkpoint (FSDP, torchtitan, Lightning): one folder, a file or more a process."""

import io
import zipfile
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint import dcpmetadata, torchfile
from loganalyst.checkpoint.contents import Contents, gather
from loganalyst.checkpoint.dcpmetadata import FORMAT, Chunk, Item
from loganalyst.checkpoint.shardpieces import Piece, fill, joined
from loganalyst.checkpoint.tensorblocks import RAW, Stored, from_file
from loganalyst.errors import SourceError
from loganalyst.opening import checked, opened


def read(folder: Path) -> Contents:
    """What the checkpoint in `folder` holds. Raises SourceError where a part is missing or does not fit."""
    items = dcpmetadata.read(folder / dcpmetadata.NAME)
    sizes = {name: _size(folder, name) for name in dict.fromkeys(c.file for item in items for c in item.chunks)}
    for chunk in (c for item in items for c in item.chunks):
        if chunk.offset + chunk.length > sizes[chunk.file]:
            what = f"is {sizes[chunk.file]} bytes long, and should go on to {chunk.offset + chunk.length}"
            raise SourceError(folder / chunk.file, what, FORMAT)
    found = Contents(folder, "distributed", sum(sizes.values()))
    state: dict[Any, Any] = {}
    for item in items:
        _set(state, item.path, _value(folder, item, found))
    return gather(found, state, lambda value: isinstance(value, Stored), lambda name, tensor: tensor.named(name))


def _size(folder: Path, name: str) -> int:
    if not (folder / name).is_file():
        raise SourceError(folder, f"has no file {name[:100]!r}, which its metadata names", FORMAT)
    return checked(folder / name).stat().st_size


def _set(state: dict[Any, Any], path: tuple[Any, ...], value: Any) -> None:
    """Put a value where it stood in the nested state dict, lists as dictionaries."""
    *above, last = path or ("",)
    for name in above:
        inner = state.setdefault(name, {})
        state = inner if isinstance(inner, dict) else state
    state[last] = value


def _value(folder: Path, item: Item, found: Contents) -> Any:
    """A tensor in blocks; anything else as it was saved."""
    if item.dtype is not None:
        return _tensor(folder, item, item.dtype)
    (chunk,) = item.chunks
    with opened(folder / chunk.file) as file:
        try:
            return torchfile.load(folder / chunk.file, _part(file, chunk))
        except torchfile.NeedsCodeError as error:
            found.unread.append(f"{'.'.join(map(str, item.path))[:100]} {error.what}")
            return None


def _tensor(folder: Path, item: Item, dtype: str) -> Stored:
    name, kind = ".".join(map(str, item.path)), np.dtype(RAW[dtype])
    if not fill(item.shape, [Piece(c.begin, c.shape, lambda: iter(())) for c in item.chunks]):
        raise SourceError(folder / dcpmetadata.NAME, f"the parts of {name[:100]!r} do not fill its shape", FORMAT)
    least = prod(item.shape) * kind.itemsize
    if sum(c.length for c in item.chunks) < least:
        raise SourceError(folder / dcpmetadata.NAME, f"the parts of {name[:100]!r} are too short for its shape", FORMAT)
    pieces = [Piece(c.begin, c.shape, _raw(folder / c.file, c, dtype)) for c in item.chunks]
    lies = (folder, *((c.file, c.offset) for c in item.chunks))
    return Stored(name, item.shape, dtype, lambda: joined(item.shape, pieces, kind), lies)


def _raw(path: Path, chunk: Chunk, dtype: str) -> Callable[[], Iterator[NDArray[Any]]]:
    """The elements of a chunk, which is a file of torch.save in the file: looked into when they are asked for."""

    def blocks() -> Iterator[NDArray[Any]]:
        with opened(path) as file:
            shape = torchfile.load(path, _part(file, chunk), "meta")
            if tuple(getattr(shape, "shape", ())) != chunk.shape or str(shape.dtype) != f"torch.{dtype}":
                raise SourceError(path, f"holds another tensor at byte {chunk.offset} than its metadata tells", FORMAT)
            if not shape.is_contiguous():
                yield from torchfile.stored(path, "", torchfile.load(path, _part(file, chunk))).raw()
                return
            start = _numbers(file, chunk) + shape.storage_offset() * shape.element_size()
        if start + prod(chunk.shape) * shape.element_size() > chunk.offset + chunk.length:
            raise SourceError(path, f"the tensor at byte {chunk.offset} is longer than its part", FORMAT)
        yield from from_file(path, start, prod(chunk.shape), np.dtype(RAW[dtype]))

    return blocks


def _numbers(file: BinaryIO, chunk: Chunk) -> int:
    """The byte of the file where the numbers of a chunk begin: behind the archive's own header of its one storage."""
    with zipfile.ZipFile(_part(file, chunk)) as archive:
        (member,) = (m for m in archive.infolist() if m.filename.endswith("/data/0"))
    head = chunk.offset + member.header_offset
    file.seek(head)
    fixed = file.read(30)
    return head + 30 + int.from_bytes(fixed[26:28], "little") + int.from_bytes(fixed[28:30], "little")


class _Part(io.RawIOBase):
    """Some bytes of a file as a file of their own."""

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        self._file, self._start, self._length, self._at = file, start, length, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(offset + (0, self._at, self._length)[whence], 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)[: max(self._length - self._at, 0)]
        self._file.seek(self._start + self._at)
        got = self._file.readinto(room)  # type: ignore[attr-defined]
        self._at += got
        return int(got)


def _part(file: BinaryIO, chunk: Chunk) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Part(file, chunk.offset, chunk.length)))
