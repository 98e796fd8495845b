"""The pickle `.metadata` of torch.distributed.checkpoint: read without code, or refused."""

import copyreg
import pickle

import pytest
import torch

import loganalyst as la
from loganalyst.checkpoint import dcpmetadata
from loganalyst.errors import SourceError
from tests.checkpoint import enums
from tests.checkpoint.samples import (
    Evil,
    change_metadata,
    refused,
)


def test_each_entry_has_its_path_shape_and_chunks(alone):
    items = {item.path: item for item in dcpmetadata.read(alone / ".metadata")}
    weight = items["model", "weight"]

    assert (weight.dtype, weight.shape) == ("float32", (7, 16))
    assert [(c.begin, c.shape, c.file) for c in weight.chunks] == [((0, 0), (7, 16), "__0_0.distcp")]
    assert items["step",].dtype is None


def test_metadata_that_would_run_code_is_refused_and_not_run(alone, tmp_path):
    (alone / ".metadata").write_bytes(pickle.dumps({"x": Evil(tmp_path / "ran")}))

    assert "needs code to be read, which is not run: posix.system" in refused(alone)
    assert not (tmp_path / "ran").exists()


def rewritten(path, protocol):
    """The metadata as Python 3.11.2 pickles it."""
    metadata = pickle.loads(path.read_bytes())
    with path.open("wb") as file:
        enums.Pickler(file, protocol).dump(metadata)
    assert b"getattr" in path.read_bytes()


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_metadata_from_python_3_11_2_is_read_like_any_other(protocol, alone):
    (before,) = la.inspect(alone).checkpoints
    rewritten(alone / ".metadata", protocol)
    (after,) = la.inspect(alone).checkpoints

    assert (after.tensors, after.optimizers, after.step) == (before.tensors, before.optimizers, before.step)


NO_ENUM = "getattr of something other than a known enum"


ENUM = b"ctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n"


RECORD = b"ctorch.distributed.checkpoint.metadata\nMetadata\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (RECORD + b"X\x08\x00\x00\x00__dict__", NO_ENUM),
        (RECORD + b")\x81X\x05\x00\x00\x00state", NO_ENUM),
        (
            ENUM + b")\x81X\x05\x00\x00\x00state",
            "getattr of something other than a known enum",
        ),  # a member, not the class
        (b"cbuiltins\ngetattr\nX\x07\x00\x00\x00__new__", NO_ENUM),
        (b"X\x01\x00\x00\x00aX\x05\x00\x00\x00upper", NO_ENUM),
        (b"]X\x05\x00\x00\x00clear", NO_ENUM),
        (ENUM + b"K\x01", NO_ENUM),
        (ENUM + ENUM, NO_ENUM),
        (ENUM, "is damaged or cut off"),
        (ENUM + b"X\x01\x00\x00\x00aN", "is damaged or cut off"),
        (b"cos\nsystem\nX\x01\x00\x00\x00a", "needs code to be read, which is not run: os.system"),
        (b"cenum\nEnum\nX\x07\x00\x00\x00__new__", "needs code to be read, which is not run: enum.Enum"),
    ],
)
@pytest.mark.parametrize("module", [b"builtins", b"__builtin__"])
def test_getattr_of_anything_but_a_known_enum_is_refused(module, arguments, words, alone):
    (alone / ".metadata").write_bytes(b"\x80\x02c" + module + b"\ngetattr\n(" + arguments + b"tR.")

    assert words in refused(alone)


def test_the_replacement_of_getattr_cannot_be_changed_or_called_otherwise(alone):
    """Instantiated, called, updated, as the metadata itself, and under another name."""
    getattr_ = b"\x80\x02cbuiltins\ngetattr\n"
    for rest in (b"}b.", b")\x81.", b")R.", b"N}\x86b.", b"."):
        (alone / ".metadata").write_bytes(getattr_ + rest)
        assert ".metadata" in refused(alone)
    (alone / ".metadata").write_bytes(b"\x80\x02cbuiltins\nsetattr\n.")
    assert "needs code to be read, which is not run: builtins.setattr" in refused(alone)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("relative_path", "../x.distcp", "it lies outside the folder: '../x.distcp'"),
        ("relative_path", "/etc/passwd", "it lies outside the folder"),
        ("relative_path", "", "it lies outside the folder"),
        ("relative_path", 3, "it lies outside the folder"),
        ("offset", -1, "its position in the file is invalid"),
        ("length", 1 << 70, "its position in the file is invalid"),
        ("length", 1 << 62, "bytes long, and should reach byte"),
        ("offset", 10, "a file of torch.save is an uncompressed zip archive"),
        ("transform_descriptors", ["zstd"], "it is compressed"),
    ],
)
def test_false_positions_are_refused(field, value, words, alone):
    change_metadata(alone, lambda metadata, index: object.__setattr__(metadata.storage_data[index], field, value))

    assert words in refused(alone)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1 << 40, 1 << 40), "do not fill its shape"),
        ((8, 16), "do not fill its shape"),
        ((-7, 16), "a shape is invalid"),
        ((1,) * 100, "a shape is invalid"),
        ((16, 7), "do not fill its shape"),
    ],
)
def test_false_shapes_are_refused(shape, words, alone):
    class Size(tuple):
        __slots__ = ()

    copyreg.pickle(Size, lambda s: (torch.Size, (tuple(s),)))

    def change(metadata, index):
        metadata.state_dict_metadata["model.weight"].size = Size(shape)

    change_metadata(alone, change)

    assert words in refused(alone)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"x", b"\x80\x04.", pickle.dumps({}), pickle.dumps([1, 2], 4),
        b"\x80\x02]r\xff\xff\xff\xff.",  # a memo place that C's reader would fill memory up to
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f].",  # a frame of 2^63 bytes
        b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b".",
        b"\x80\x02}K\x01\x85\x85q\x00h\x00h\x00\x86K\x01s.",  # a tuple as a key
    ],
)  # fmt: skip
def test_invalid_metadata_is_a_clear_error(data, alone):
    (alone / ".metadata").write_bytes(data)

    assert ".metadata" in refused(alone)


def test_metadata_cut_or_damaged_anywhere_is_read_or_refused(alone):
    content, read = (alone / ".metadata").read_bytes(), 0
    for at in range(0, len(content), 97):
        for data in (content[:at], content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]):
            (alone / ".metadata").write_bytes(data)
            try:
                read += len(la.inspect(alone).checkpoints)
            except SourceError:
                continue
    assert read > 0
