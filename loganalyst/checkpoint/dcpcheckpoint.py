"""Checkpoints of torch.distributed.checkpoint (FSDP, torchtitan, Lightning): a folder to which each process writes."""

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
    """The contents of the checkpoint in `folder`. Raises SourceError if a file is missing or inconsistent."""
    items = dcpmetadata.read(folder / dcpmetadata.NAME)
    sizes = {name: _size(folder, name) for name in dict.fromkeys(c.file for item in items for c in item.chunks)}
    for chunk in (c for item in items for c in item.chunks):
        if chunk.offset + chunk.length > sizes[chunk.file]:
            what = f"is {sizes[chunk.file]} bytes long, and should reach byte {chunk.offset + chunk.length}"
            raise SourceError(folder / chunk.file, what, FORMAT)
    found = Contents(folder, "distributed", sum(sizes.values()))
    state: dict[Any, Any] = {}
    for item in items:
        _insert(state, item.path, _value(folder, item, found))
    return gather(found, state, lambda value: isinstance(value, Stored), lambda name, tensor: tensor.named(name))


def _size(folder: Path, name: str) -> int:
    if not (folder / name).is_file():
        raise SourceError(folder, f"has no file {name[:100]!r}, which its metadata names", FORMAT)
    return checked(folder / name).stat().st_size


def _insert(state: dict[Any, Any], path: tuple[Any, ...], value: Any) -> None:
    """Put a value at its place in the nested state dict; lists are dictionaries by index."""
    *above, last = path or ("",)
    for name in above:
        inner = state.setdefault(name, {})
        state = inner if isinstance(inner, dict) else state
    state[last] = value


def _value(folder: Path, item: Item, found: Contents) -> Any:
    """A tensor that is read in blocks, or any other object as it was saved."""
    if item.dtype is not None:
        return _tensor(folder, item, item.dtype)
    (chunk,) = item.chunks
    with opened(folder / chunk.file) as file:
        try:
            return torchfile.load(folder / chunk.file, _chunk_file(file, chunk))
        except torchfile.NeedsCodeError as error:
            found.unread.append(f"{'.'.join(map(str, item.path))[:100]} {error.what}")
            return None


def _tensor(folder: Path, item: Item, dtype: str) -> Stored:
    name, kind = ".".join(map(str, item.path)), np.dtype(RAW[dtype])
    if not fill(item.shape, [Piece(c.begin, c.shape, lambda: iter(())) for c in item.chunks]):
        raise SourceError(folder / dcpmetadata.NAME, f"the chunks of {name[:100]!r} do not fill its shape", FORMAT)
    if sum(c.length for c in item.chunks) < prod(item.shape) * kind.itemsize:
        what = f"the chunks of {name[:100]!r} are too short for its shape"
        raise SourceError(folder / dcpmetadata.NAME, what, FORMAT)
    pieces = [Piece(c.begin, c.shape, _chunk_blocks(folder / c.file, c, dtype)) for c in item.chunks]
    storage = (folder, *((c.file, c.offset) for c in item.chunks))
    return Stored(name, item.shape, dtype, lambda: joined(item.shape, pieces, kind), storage)


def _chunk_blocks(path: Path, chunk: Chunk, dtype: str) -> Callable[[], Iterator[NDArray[Any]]]:
    """The elements of a chunk. A chunk is a torch.save file within the file, and is opened when they are read."""

    def blocks() -> Iterator[NDArray[Any]]:
        with opened(path) as file:
            shape = torchfile.load(path, _chunk_file(file, chunk), "meta")
            if tuple(getattr(shape, "shape", ())) != chunk.shape or str(shape.dtype) != f"torch.{dtype}":
                raise SourceError(path, f"holds another tensor at byte {chunk.offset} than its metadata says", FORMAT)
            if not shape.is_contiguous():
                yield from torchfile.stored(path, "", torchfile.load(path, _chunk_file(file, chunk))).raw()
                return
            start = _data_offset(file, chunk) + shape.storage_offset() * shape.element_size()
        if start + prod(chunk.shape) * shape.element_size() > chunk.offset + chunk.length:
            raise SourceError(path, f"the tensor at byte {chunk.offset} is longer than its chunk", FORMAT)
        yield from from_file(path, start, prod(chunk.shape), np.dtype(RAW[dtype]))

    return blocks


def _data_offset(file: BinaryIO, chunk: Chunk) -> int:
    """The byte at which the data of a chunk begins: after the local header of the archive's one storage."""
    with zipfile.ZipFile(_chunk_file(file, chunk)) as archive:
        (member,) = (m for m in archive.infolist() if m.filename.endswith("/data/0"))
    head = chunk.offset + member.header_offset
    file.seek(head)
    fixed = file.read(30)  # bytes 26 to 29 hold the lengths of the name and of the extra field that follow
    return head + 30 + int.from_bytes(fixed[26:28], "little") + int.from_bytes(fixed[28:30], "little")


class _FileRange(io.RawIOBase):
    """A range of bytes of a file, as a file."""

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


def _chunk_file(file: BinaryIO, chunk: Chunk) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_FileRange(file, chunk.offset, chunk.length)))
