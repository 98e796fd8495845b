"""The `.metadata` of torch.distributed.checkpoint: a pickle, of which no name is looked up and nothing is called.

Its dataclasses become plain records; a name or an opcode that such a file does not need is refused. Keys are texts,
numbers or records, which are hashed in no time however deep they are.
Fields as in https://docs.pytorch.org/docs/stable/distributed.checkpoint.html (`Metadata`).
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
LONGEST = 1 << 30  # bytes
DEEPEST = 64  # axes of a tensor, or levels of the state dict
FORMAT = "a folder that torch.distributed.checkpoint.save wrote: .metadata and the *.distcp files beside it"


class Chunk(NamedTuple):
    """A box of a tensor, and the bytes of a file that hold it."""

    begin: tuple[int, ...]
    shape: tuple[int, ...]
    file: str
    offset: int
    length: int


@dataclass(frozen=True)
class Item:
    """One entry of the state dict: where it stood in it, and its chunks; `dtype` is None for what is no tensor."""

    path: tuple[Any, ...]
    dtype: str | None
    shape: tuple[int, ...]
    chunks: tuple[Chunk, ...]


class Record:
    """An object as its data: what it was made with, and what it was set to."""

    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> Self:
        """Also what a call of the class and an object without `__init__` come to."""
        made = super().__new__(cls)
        made.args, made.state = args, {}
        return made

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __getitem__(self, name: str) -> Any:
        return self.state.get(name) if isinstance(self.state, dict) else None


class Member(Record):
    """Stands for `getattr`, by which Python 3.11.2 pickles a member of an enum: `getattr(_MEM_FORMAT_ENCODING, "…")`.

    Of the enums of such a file it makes the member's record. Of anything else it is refused.
    """

    def __new__(cls, kind: Any, name: Any) -> Any:
        """The record of the member `name` of an enum."""
        if not any(kind is _RECORDS[enum] for enum in _ENUMS) or type(name) is not str:
            raise pickle.UnpicklingError("needs code to be read, which is not run: getattr of what is no known enum")
        return kind(name)


_PLACES = {
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
_RECORDS = {(module, name): type(name, (Record,), {}) for module, names in _PLACES.items() for name in names}
_RECORDS |= {(module, "getattr"): Member for module in ("builtins", "__builtin__")}  # protocol 2 has Python 2's name
_OPCODES = {
    "PROTO", "FRAME", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1",
    "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE", "TUPLE1",
    "TUPLE2", "TUPLE3", "EMPTY_DICT", "SETITEM", "SETITEMS", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT",
    "MEMOIZE", "GLOBAL", "STACK_GLOBAL", "NEWOBJ", "REDUCE", "BUILD",
}  # fmt: skip
_CODES = {ord(op.code) for op in pickletools.opcodes if op.name in _OPCODES}
_All: Any = pickle._Unpickler  # the one written in Python: its C twin fills memory where a memo place is huge


class _Reader(_All):  # type: ignore[misc]
    """Python's own reader with the opcodes of plain data, and names that are records."""

    stack: list[Any]
    dispatch = {code: act for code, act in _All.dispatch.items() if code in _CODES}  # noqa: RUF012

    def find_class(self, module: str, name: str) -> object:
        if module == "torch" and name in RAW:
            return name
        if (module, name) not in _RECORDS:
            raise pickle.UnpicklingError(f"needs code to be read, which is not run: {module}.{name}"[:300])
        return _RECORDS[module, name]

    def load_setitems(self) -> None:
        pairs = self.pop_mark()
        target, keys = self.stack[-1], pairs[::2]
        if type(target) is not dict or not all(type(k) in (str, int) or isinstance(k, Record) for k in keys):
            raise pickle.UnpicklingError("a dictionary has keys that are neither texts nor records")
        target.update(zip(keys, pairs[1::2], strict=True))

    def load_setitem(self) -> None:
        pair = self.stack[-2:]
        del self.stack[-2:]
        self.metastack.append(self.stack)
        self.stack = pair
        self.load_setitems()

    dispatch |= {pickle.SETITEMS[0]: load_setitems, pickle.SETITEM[0]: load_setitem}


def read(path: Path) -> list[Item]:
    """The entries of a checkpoint, checked: shapes, and that each chunk has its place. Raises SourceError."""
    if path.stat().st_size > LONGEST:
        raise SourceError(path, "is too long for what it should hold", f"at most {LONGEST} bytes")
    data = whole(path)
    try:
        found = _Reader(io.BytesIO(data)).load()
    except pickle.UnpicklingError as error:
        raise SourceError(path, str(error)[:300], FORMAT) from None
    except Exception as error:  # whatever a damaged pickle makes of Python's reader
        raise SourceError(path, f"is damaged or cut off, or no pickle ({type(error).__name__})", FORMAT) from None
    if not isinstance(found, Record) or type(found).__name__ != "Metadata":
        raise SourceError(path, "is no metadata of a checkpoint", FORMAT)
    return _items(path, found)


def _items(path: Path, metadata: Record) -> list[Item]:
    entries, stored, planned = (metadata[name] for name in ("state_dict_metadata", "storage_data", "planner_data"))
    if not isinstance(entries, dict) or not isinstance(stored, dict):
        raise SourceError(path, "has no list of tensors, or of where they lie", FORMAT)
    paths = planned if isinstance(planned, dict) else {}
    items: list[Item] = []
    for name, entry in entries.items():
        try:
            if not items:
                lies = {(index["fqn"], _size(index["offset"])): info for index, info in stored.items()}
            items.append(_item(str(name), entry, paths.get(name), lies))
        except (AttributeError, TypeError, ValueError, LookupError) as error:
            why = str(error)[:200] if isinstance(error, ValueError) else "it is not told of as such a file does"
            raise SourceError(path, f"cannot be followed to {str(name)[:100]!r}: {why}", FORMAT) from None
    return items


def _item(name: str, entry: Record, place: Any, lies: Mapping[Any, Record]) -> Item:
    where = tuple(place) if isinstance(place, (tuple, list)) and len(place) <= DEEPEST else (name,)
    if type(entry).__name__ == "BytesStorageMetadata":
        return Item(where, None, (), (_chunk((), (), lies.get((name, None))),))
    shape, dtype = _size(entry["size"]), entry["properties"].state[0]
    if shape is None or dtype not in RAW:
        raise ValueError(f"a shape and one of the types {', '.join(RAW)} are needed")
    boxes = [(_size(c["offsets"]), _size(c["sizes"])) for c in entry["chunks"]]
    return Item(where, dtype, shape, tuple(_chunk(b or (), s or (), lies.get((name, b))) for b, s in boxes))


def _size(value: Record | None) -> tuple[int, ...] | None:
    """A torch.Size, whose one argument is a tuple of whole numbers."""
    if value is None:
        return None
    axes = tuple(value.args[0])
    if len(axes) > DEEPEST or not all(type(n) is int and 0 <= n < 1 << 63 for n in axes):
        raise ValueError("a shape is none")
    return axes


def _chunk(begin: tuple[int, ...], shape: tuple[int, ...], info: Record | None) -> Chunk:
    if info is None:
        raise ValueError("a part of it lies nowhere")
    if info["transform_descriptors"]:
        raise ValueError(f"it is compressed ({str(info['transform_descriptors'])[:60]}), which is not read")
    file, offset, length = (info[name] for name in ("relative_path", "offset", "length"))
    if not isinstance(file, str) or PurePosixPath(file.replace("\\", "/")).name != file or file in ("", ".", ".."):
        raise ValueError(f"it lies outside the folder: {str(file)[:100]!r}")
    if not all(type(n) is int and 0 <= n < 1 << 63 for n in (offset, length)):
        raise ValueError("its place in the file is none")
    return Chunk(begin, shape, file, offset, length)
