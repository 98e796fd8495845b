"""Files of `torch.save`: a zip archive of a pickle and the data. A file that would run code is refused."""

import os
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeGuard

from numpy.typing import NDArray

from loganalyst.checkpoint.tensorblocks import BLOCK, RAW, Stored
from loganalyst.errors import SourceError, how_to_install
from loganalyst.opening import checked

if TYPE_CHECKING:
    import torch

MIN_TORCH = (2, 6)  # in older versions `weights_only` could run code (CVE-2025-32434)
SAVE_AGAIN = "save the state_dict alone (torch.save(model.state_dict(), …)), or as safetensors"
STAGE_ENUM = "deepspeed.runtime.zero.config.ZeroStageEnum"  # the one enum of which checkpoints hold members
GETATTR = "builtins.getattr"  # with which Python 3.11.2 pickles enum members
NO_ENUM = "needs code to be read, which is not run: getattr of something other than a known enum"
DATA_CLASSES = {  # classes that only hold data, replaced by `Inert`: DeepSpeed's, Megatron's, and numpy's random state
    "deepspeed.runtime.fp16.loss_scaler.DynamicLossScaler",
    "deepspeed.runtime.fp16.loss_scaler.LossScaler",
    "deepspeed.utils.tensor_fragment.fragment_address",
    "argparse.Namespace",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar",
    "numpy._core.multiarray.scalar",
    "numpy.ndarray",
    "numpy.dtype",
}
ARCHIVE = "a file of torch.save is an uncompressed zip archive with a data.pkl"


class NeedsCodeError(SourceError):
    """A pickle that needs functions or classes, which are not run."""


class Inert:
    """Replaces an object of a class that is not loaded: it keeps the state and does nothing."""

    def __new__(cls, *_: Any) -> "Inert":
        """Ignore the arguments."""
        return super().__new__(cls)

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update((str(name), value) for name, value in state.items())


class Enumerated(Inert):
    """Replaces an enum class."""


class Member(Inert):
    """Replaces `getattr`, with which Python 3.11.2 pickles an enum member; refuses to look up anything else."""

    def __new__(cls, kind: object, name: object) -> Any:
        """The replacement of the member `name` of an enum."""
        if kind is not Enumerated or type(name) is not str:
            raise ValueError(NO_ENUM)
        return Enumerated()


def load(path: Path, part: BinaryIO | None = None, place: str = "cpu") -> Any:
    """The object of the file, with tensors mapped from it; or the object of `part`, a range of the file, read at once.
    On the `place` "meta" tensors have only a shape. Raises SourceError if damaged, NeedsCodeError if code is needed,
    OSError.
    """
    checked(path)
    _check_archive(path, part)
    torch = _import_torch(path)
    if part:
        part.seek(0)
    stand_ins = [*((Inert, name) for name in DATA_CLASSES), (Enumerated, STAGE_ENUM), (Member, GETATTR)]
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(stand_ins):
            warnings.simplefilter("ignore")
            return torch.load(part or path, map_location=place, mmap=part is None, weights_only=True)
    except Exception as error:  # a hostile file can raise anything in torch
        raise _load_error(path, torch, error, part) from None


def refuse_pickle(path: Path) -> SourceError:
    """The error for a pickle that is not an archive."""
    what = "is a pickle as PyTorch wrote before 1.6, or of another program; reading it can run code"
    return SourceError(path, what, f"load it where you trust it, and {SAVE_AGAIN}")


def _import_torch(path: Path) -> Any:
    try:
        import torch
    except ImportError:
        raise SourceError(path, "needs PyTorch to be read", how_to_install("replay")) from None
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < MIN_TORCH:
        raise SourceError(path, f"PyTorch {torch.__version__} cannot read it safely", "2.6 or newer can")
    return torch


def _check_archive(path: Path, part: BinaryIO | None) -> None:
    """Check sizes and names of the members before any of them is read."""
    try:
        with zipfile.ZipFile(part or path) as archive:
            members = archive.infolist()
    except Exception as error:  # on damaged bytes zipfile raises far more than BadZipFile
        what = f"is damaged or cut off: its list of contents, at the end, cannot be read ({str(error)[:100]})"
        raise SourceError(path, what, ARCHIVE) from None
    size = part.seek(0, os.SEEK_END) if part else path.stat().st_size
    unpacked = sum(m.file_size for m in members)
    if unpacked > size or any(m.compress_type != zipfile.ZIP_STORED or m.flag_bits & 1 for m in members):
        raise SourceError(path, f"would unpack to {unpacked} bytes from a file of {size}", ARCHIVE)
    for name in (m.filename for m in members):
        if name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts:
            raise SourceError(path, f"has a member outside its folder: {name[:100]!r}", ARCHIVE)
    if not any(PurePosixPath(m.filename).name == "data.pkl" for m in members):
        raise SourceError(path, "is an archive, but not of torch.save", ARCHIVE)


def _load_error(path: Path, torch: Any, error: Exception, part: BinaryIO | None) -> SourceError:
    """The error that names the functions or classes the pickle needs, or else what is wrong with it."""
    try:
        if part:
            part.seek(0)
        wanted = set(torch.serialization.get_unsafe_globals_in_checkpoint(part or path)) - DATA_CLASSES - {STAGE_ENUM}
        wanted -= set() if NO_ENUM in str(error) else {GETATTR}
    except Exception:  # the file that torch.load could not read either
        wanted = set()
    if wanted:
        names = ", ".join(sorted(map(str, wanted))[:8])
        return NeedsCodeError(path, f"needs code to be read, which is not run: {names[:300]}", SAVE_AGAIN)
    message = str(error).rpartition("WeightsUnpickler error: ")[2]  # the text before it advises an unsafe load
    first = (message.strip().splitlines() or [type(error).__name__])[0]
    return SourceError(path, f"cannot be read by PyTorch: {first[:200]}", ARCHIVE)


def is_tensor(value: Any) -> "TypeGuard[torch.Tensor]":
    """Whether this is a tensor of torch, without importing torch."""
    return type(value).__module__.startswith("torch") and hasattr(value, "untyped_storage")


def is_flat(value: Any) -> "TypeGuard[torch.Tensor]":
    """Whether this is a tensor with one axis."""
    return is_tensor(value) and value.dim() == 1


def stored(path: Path, name: str, tensor: "torch.Tensor") -> Stored:
    """A loaded tensor as one that is read in blocks. A sparse one has only its stored values."""
    import torch

    t = tensor.detach()
    if t.is_sparse:
        t = t._values()
    elif t.is_quantized:
        t = t.int_repr()
    dtype = str(t.dtype).removeprefix("torch.")
    if dtype not in RAW or t.layout is not torch.strided or t.device.type != "cpu":
        what = f"tensor {name[:100]!r} has an unsupported type or layout ({dtype}, {t.layout}, {t.device})"
        raise SourceError(path, what, f"known are {', '.join(RAW)}")
    address = t.untyped_storage().data_ptr() + t.storage_offset() * t.element_size()
    return Stored(name, tuple(tensor.shape), dtype, lambda: _blocks(t, dtype), (address, tuple(t.shape), t.stride()))


def _blocks(tensor: "torch.Tensor", dtype: str) -> Iterator[NDArray[Any]]:
    """Blocks in row order, as the file is mapped. A tensor that is not stored in row order is copied first."""
    import torch

    for axis, stride in enumerate(tensor.stride()):
        tensor = tensor.narrow(axis, 0, 1) if stride == 0 and tensor.shape[axis] else tensor  # one value, repeated
    # overlapping windows of one storage: read the storage once
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        tensor = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
    tensor = tensor.resolve_conj().resolve_neg().contiguous().view(-1)
    if RAW[dtype] == "<u2" or dtype.startswith("float8"):
        tensor = tensor.view(torch.uint16 if tensor.element_size() == 2 else torch.uint8)
    for start in range(0, len(tensor), BLOCK):
        yield tensor[start : start + BLOCK].numpy()
