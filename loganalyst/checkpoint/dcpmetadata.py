"""Reads the `.metadata` of torch.distributed.checkpoint: a pickle. No name in it is imported and nothing is called.

Its dataclasses become plain records. A name or an opcode that such a file does not need is refused. Keys are strings,
numbers or records, which hash in constant time however deeply they nest. Fields as in
https://docs.pytorch.org/docs/stable/distributed.checkpoint.html (`Metadata`).
"""

import io
import pickle
import pickletools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

from loganalyst.checkpoint.tensorblocks import RAW
from loganalyst.errors import SourceError
from loganalyst.opening import whole

NAME = ".metadata"
MAX_BYTES = 1 << 30
MAX_DEPTH = 64  # axes of a tensor, or levels of the state dict
NOT_RUN = "needs code to be read, which is not run"
FORMAT = "a folder that torch.distributed.checkpoint.save wrote: .metadata and the *.distcp files next to it"


class Chunk(NamedTuple):
    """A box of a tensor, and the bytes of a file that hold it."""

    begin: tuple[int, ...]
    shape: tuple[int, ...]
    file: str
    offset: int
    length: int


@dataclass(frozen=True)
class Item:
    """An entry of the state dict: its path, and its chunks. `dtype` is None if it is not a tensor."""

    path: tuple[Any, ...]
    dtype: str | None
    shape: tuple[int, ...]
    chunks: tuple[Chunk, ...]


class Record:
    """An object as plain data: its constructor arguments and its state."""

    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> Self:
        """Serves both calls of the class and objects made without `__init__`."""
        made = super().__new__(cls)
        made.args, made.state = args, {}
        return made

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __getitem__(self, name: str) -> Any:
        return self.state.get(name) if isinstance(self.state, dict) else None


class Member(Record):
    """Replaces `getattr`, with which Python 3.11.2 pickles an enum member: `getattr(_MEM_FORMAT_ENCODING, "…")`.

    For the enums of such a file it makes the member's record. It refuses anything else.
    """

    def __new__(cls, kind: Any, name: Any) -> Any:
        """The record of the member `name` of an enum."""
        if not any(kind is _RECORDS[enum] for enum in _ENUMS) or type(name) is not str:
            raise pickle.UnpicklingError(f"{NOT_RUN}: getattr of something other than a known enum")
        return kind(name)


_RECORD_NAMES = {
    "torch.distributed.checkpoint.metadata": (
        "Metadata", "MetadataIndex", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
        "TensorProperties", "StorageMeta", "_MEM_FORMAT_ENCODING",
    ),
    "torch.distributed._shard.sharded_tensor.metadata": ("TensorProperties", "MEM_FORMAT_ENCODING"),  # before 2.3
    "torch.distributed.checkpoint.filesystem": ("_StorageInfo",),
    "torch.serialization": ("_get_layout",),
    "torch": ("Size",),
    "pathlib": ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"),
    "collections": ("OrderedDict",),
}  # fmt: skip
_ENUMS = (
    ("torch.distributed.checkpoint.metadata", "_MEM_FORMAT_ENCODING"),
    ("torch.distributed._shard.sharded_tensor.metadata", "MEM_FORMAT_ENCODING"),
)
_RECORDS = {(module, name): type(name, (Record,), {}) for module, names in _RECORD_NAMES.items() for name in names}
_RECORDS |= {(module, "getattr"): Member for module in ("builtins", "__builtin__")}  # protocol 2 uses Python 2's name
_OPCODES = {
    "PROTO", "FRAME", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1",
    "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE", "TUPLE1",
    "TUPLE2", "TUPLE3", "EMPTY_DICT", "SETITEM", "SETITEMS", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT",
    "MEMOIZE", "GLOBAL", "STACK_GLOBAL", "NEWOBJ", "REDUCE", "BUILD",
}  # fmt: skip
_CODES = {ord(op.code) for op in pickletools.opcodes if op.name in _OPCODES}
_PythonUnpickler: Any = pickle._Unpickler  # the Python implementation: the C one fills memory up to a huge memo index


class _Reader(_PythonUnpickler):  # type: ignore[misc]
    """Python's unpickler, reduced to the opcodes of plain data and to names that are records."""

    stack: list[Any]
    dispatch = {code: act for code, act in _PythonUnpickler.dispatch.items() if code in _CODES}  # noqa: RUF012

    def find_class(self, module: str, name: str) -> object:
        if module == "torch" and name in RAW:
            return name
        if (module, name) not in _RECORDS:
            raise pickle.UnpicklingError(f"{NOT_RUN}: {module}.{name}"[:300])
        return _RECORDS[module, name]

    def load_setitems(self) -> None:
        pairs = self.pop_mark()
        target, keys = self.stack[-1], pairs[::2]
        if type(target) is not dict or not all(type(k) in (str, int) or isinstance(k, Record) for k in keys):
            raise pickle.UnpicklingError("a dictionary has keys that are neither strings nor records")
        target.update(zip(keys, pairs[1::2], strict=True))

    def load_setitem(self) -> None:
        pair = self.stack[-2:]
        del self.stack[-2:]
        self.metastack.append(self.stack)
        self.stack = pair
        self.load_setitems()

    dispatch |= {pickle.SETITEMS[0]: load_setitems, pickle.SETITEM[0]: load_setitem}


def read(path: Path) -> list[Item]:
    """The entries of a checkpoint, with shapes and chunk positions checked. Raises SourceError."""
    if path.stat().st_size > MAX_BYTES:
        raise SourceError(path, "is too long for metadata", f"at most {MAX_BYTES} bytes")
    data = whole(path)
    try:
        found = _Reader(io.BytesIO(data)).load()
    except pickle.UnpicklingError as error:
        raise SourceError(path, str(error)[:300], FORMAT) from None
    except Exception as error:  # a damaged pickle can raise anything in Python's unpickler
        raise SourceError(path, f"is damaged or cut off, or not a pickle ({type(error).__name__})", FORMAT) from None
    if not isinstance(found, Record) or type(found).__name__ != "Metadata":
        raise SourceError(path, "is not the metadata of a checkpoint", FORMAT)
    return _items(path, found)


def _items(path: Path, metadata: Record) -> list[Item]:
    entries, storage, planned = (metadata[name] for name in ("state_dict_metadata", "storage_data", "planner_data"))
    if not isinstance(entries, dict) or not isinstance(storage, dict):
        raise SourceError(path, "has no list of tensors, or no list of their positions", FORMAT)
    paths = planned if isinstance(planned, dict) else {}
    items: list[Item] = []
    for name, entry in entries.items():
        try:
            if not items:
                infos = {(index["fqn"], _axes(index["offset"])): info for index, info in storage.items()}
            items.append(_item(str(name), entry, paths.get(name), infos))
        except (AttributeError, TypeError, ValueError, LookupError) as error:
            why = str(error)[:200] if isinstance(error, ValueError) else "its entry is malformed"
            raise SourceError(path, f"cannot locate {str(name)[:100]!r}: {why}", FORMAT) from None
    return items


def _item(name: str, entry: Record, planned: Any, infos: Mapping[Any, Record]) -> Item:
    path = tuple(planned) if isinstance(planned, (tuple, list)) and len(planned) <= MAX_DEPTH else (name,)
    if type(entry).__name__ == "BytesStorageMetadata":
        return Item(path, None, (), (_chunk((), (), infos.get((name, None))),))
    shape, dtype = _axes(entry["size"]), entry["properties"].state[0]
    if shape is None or dtype not in RAW:
        raise ValueError(f"a shape and one of the types {', '.join(RAW)} are needed")
    boxes = [(_axes(c["offsets"]), _axes(c["sizes"])) for c in entry["chunks"]]
    return Item(path, dtype, shape, tuple(_chunk(b or (), s or (), infos.get((name, b))) for b, s in boxes))


def _axes(value: Record | None) -> tuple[int, ...] | None:
    """The axes of a torch.Size, whose one argument is a tuple of integers."""
    if value is None:
        return None
    axes = tuple(value.args[0])
    if len(axes) > MAX_DEPTH or not all(type(n) is int and 0 <= n < 1 << 63 for n in axes):
        raise ValueError("a shape is invalid")
    return axes


def _chunk(begin: tuple[int, ...], shape: tuple[int, ...], info: Record | None) -> Chunk:
    if info is None:
        raise ValueError("one of its chunks has no position")
    if info["transform_descriptors"]:
        raise ValueError(f"it is compressed ({str(info['transform_descriptors'])[:60]}), which is not supported")
    file, offset, length = (info[name] for name in ("relative_path", "offset", "length"))
    if not isinstance(file, str) or PurePosixPath(file.replace("\\", "/")).name != file or file in ("", ".", ".."):
        raise ValueError(f"it lies outside the folder: {str(file)[:100]!r}")
    if not all(type(n) is int and 0 <= n < 1 << 63 for n in (offset, length)):
        raise ValueError("its position in the file is invalid")
    return Chunk(begin, shape, file, offset, length)
