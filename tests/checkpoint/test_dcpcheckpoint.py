"""Checkpoints of torch.distributed.checkpoint, by its own writer: of two processes with FSDP, and of this one."""

import copyreg
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp
from hypothesis import given
from hypothesis import strategies as st
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

import loganalyst as la
from loganalyst.checkpoint.shardpieces import Piece, fill, joined
from loganalyst.errors import SourceError
from tests.checkpoint import enums

WRITER = Path(__file__).with_name("written_by_two.py")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distributed") / "step-1"
    subprocess.run([sys.executable, WRITER, folder], check=True, capture_output=True)
    return folder


def trained():
    torch.manual_seed(0)
    net = torch.nn.Linear(16, 7)
    adam = torch.optim.AdamW(net.parameters(), lr=0.01)
    plan = torch.optim.lr_scheduler.StepLR(adam, 1, 0.5)
    net(torch.ones(4, 16)).square().mean().backward()
    adam.step()
    plan.step()
    return net, adam, plan


def save(state, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state, checkpoint_id=folder)
    return folder


@pytest.fixture
def alone(tmp_path):
    net, adam, plan = trained()
    parameters, optimizer = get_state_dict(net, adam)
    state = {"model": parameters, "optim": optimizer, "plan": plan.state_dict(), "step": 7, "epoch": 2}
    return save({**state, "rng_state": torch.get_rng_state()}, tmp_path / "step-7")


def refused(path):
    with pytest.raises(SourceError) as told:
        la.inspect(path)
    return str(told.value)


def test_what_two_processes_wrote_is_one_model(two):
    """Cut along rows and along columns: the same numbers as the whole, row for row."""
    found = la.inspect(two, f"{two}.whole.pt")
    parts, whole = found.checkpoints

    assert parts.format == "distributed"
    assert {t.name: t for t in parts.tensors} == {t.name: t for t in whole.tensors}
    assert {t.verdict for t in found.changes[0].tensors} == {"frozen"}
    assert (parts.step, parts.lr, parts.optimizers[0].step, len(parts.optimizers[0].moments)) == (1, (0.01,), 1, 8)


def test_a_lost_file_of_a_process_is_named(two, tmp_path):
    shutil.copytree(two, tmp_path / "x")
    (tmp_path / "x/__1_0.distcp").unlink()
    assert "has no file '__1_0.distcp', which its metadata names" in refused(tmp_path / "x")
    (tmp_path / "x/.metadata").unlink()
    assert "it was not written to its end" in refused(tmp_path / "x")


def test_all_state_of_a_training_is_known(alone):
    (scan,) = la.inspect(alone).checkpoints

    assert [t.name for t in scan.tensors] == ["weight", "bias"]
    assert (scan.step, scan.epoch, scan.lr, scan.rng) == (7, 2.0, (0.005,), ("rng_state",))
    assert [(o.step, o.eps, len(o.moments)) for o in scan.optimizers] == [(1, 1e-8, 4)]


def test_an_optimiser_with_flat_keys_is_known(tmp_path):
    """As torchtitan saves it."""
    net, adam, _ = trained()
    parameters, optimizer = get_state_dict(net, adam, options=StateDictOptions(flatten_optimizer_state_dict=True))
    (scan,) = la.inspect(save({"model": parameters, "optim": optimizer}, tmp_path / "x")).checkpoints

    (o,) = scan.optimizers
    assert (o.step, o.lr, sorted(m.name for m in o.moments)) == (
        1, (0.005,), ["bias.exp_avg", "bias.exp_avg_sq", "weight.exp_avg", "weight.exp_avg_sq"]
    )  # fmt: skip


def test_a_model_and_its_optimiser_in_two_folders_are_one_checkpoint(tmp_path):
    """As Accelerate saves FSDP, with the state of HF Trainer beside them."""
    net, adam, plan = trained()
    parameters, optimizer = get_state_dict(net, adam)
    save({"model": parameters}, tmp_path / "pytorch_model_fsdp_0")
    save({"optimizer": optimizer}, tmp_path / "optimizer_0")
    torch.save(plan.state_dict(), tmp_path / "scheduler.pt")
    numbers = np.random.default_rng(0).bytes(8)
    torch.save(
        {"cpu": torch.get_rng_state(), "numpy": ("MT19937", np.frombuffer(numbers, np.uint8))},
        tmp_path / "rng_state_0.pth",
    )
    (tmp_path / "trainer_state.json").write_text('{"epoch": 1.5, "global_step": 300}')
    (scan,) = la.inspect(tmp_path).checkpoints

    assert (scan.step, scan.epoch, scan.lr, scan.rng) == (300, 1.5, (0.005,), ("cpu", "numpy"))
    assert ([t.name for t in scan.tensors], len(scan.optimizers[0].moments)) == (["weight", "bias"], 4)


def test_a_transposed_tensor_is_read_in_row_order(tmp_path):
    base = torch.arange(12.0).reshape(3, 4)
    base[:, 2] = 0.0  # a row of zeros of the transposed one
    (scan,) = la.inspect(save({"w": base.t()}, tmp_path / "x")).checkpoints

    assert (scan.tensors[0].shape, scan.tensors[0].dead_rows, scan.tensors[0].max) == ((4, 3), 1, 11.0)


class Own:
    pass


def test_an_entry_that_needs_code_is_left_out_and_told(tmp_path):
    found = la.inspect(save({"w": torch.ones(3), "own": Own()}, tmp_path / "x"))

    assert [f.kind for f in found.findings] == ["not_read"]
    assert "own needs code to be read, which is not run" in found.findings[0].text
    assert [t.name for t in found.checkpoints[0].tensors] == ["w"]


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_metadata_that_would_run_code_is_refused_and_not_run(alone, tmp_path):
    (alone / ".metadata").write_bytes(pickle.dumps({"x": Evil(tmp_path / "ran")}))

    assert "needs code to be read, which is not run: posix.system" in refused(alone)
    assert not (tmp_path / "ran").exists()


def test_an_entry_that_would_run_code_is_not_run(alone, tmp_path):
    folder = save({"w": torch.ones(3), "evil": Own()}, tmp_path / "x")
    (data,) = folder.glob("*.distcp")
    one = torch.serialization.io.BytesIO()
    torch.save(Evil(tmp_path / "ran"), one)
    metadata = pickle.loads((folder / ".metadata").read_bytes())
    index, info = next((i, s) for i, s in metadata.storage_data.items() if i.fqn == "evil")
    content = data.read_bytes()
    metadata.storage_data[index] = type(info)(info.relative_path, len(content), len(one.getvalue()))
    data.write_bytes(content + one.getvalue())
    (folder / ".metadata").write_bytes(pickle.dumps(metadata))

    assert "posix.system" in la.inspect(folder).findings[0].text
    assert not (tmp_path / "ran").exists()


def rewritten(path, protocol):
    """The metadata as Python 3.11.2 pickles it."""
    metadata = pickle.loads(path.read_bytes())
    with path.open("wb") as file:
        enums.Pickler(file, protocol).dump(metadata)
    assert b"getattr" in path.read_bytes()


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_what_python_3_11_2_wrote_is_read_as_any_other(protocol, alone):
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


def test_getattr_is_nothing_that_can_be_changed_or_called_otherwise(alone):
    """Its stand-in as an object that is made anew or built upon, as the metadata itself, and under another name."""
    getattr_ = b"\x80\x02cbuiltins\ngetattr\n"
    for rest in (b"}b.", b")\x81.", b")R.", b"N}\x86b.", b"."):
        (alone / ".metadata").write_bytes(getattr_ + rest)
        assert ".metadata" in refused(alone)
    (alone / ".metadata").write_bytes(b"\x80\x02cbuiltins\nsetattr\n.")
    assert "needs code to be read, which is not run: builtins.setattr" in refused(alone)


def changed(folder, change):
    """The metadata of a sound checkpoint with one thing changed."""
    metadata = pickle.loads((folder / ".metadata").read_bytes())
    index = next(i for i in metadata.storage_data if i.fqn == "model.weight")
    change(metadata, index)
    (folder / ".metadata").write_bytes(pickle.dumps(metadata))


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
        ("offset", 10, "cannot be read by PyTorch: "),
        ("transform_descriptors", ["zstd"], "it is compressed"),
    ],
)
def test_places_that_lie_are_refused(field, value, words, alone):
    changed(alone, lambda metadata, index: object.__setattr__(metadata.storage_data[index], field, value))

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
def test_shapes_that_lie_are_refused(shape, words, alone):
    class Size(tuple):
        __slots__ = ()

    copyreg.pickle(Size, lambda s: (torch.Size, (tuple(s),)))

    def change(metadata, index):
        metadata.state_dict_metadata["model.weight"].size = Size(shape)

    changed(alone, change)

    assert words in refused(alone)


def test_another_tensor_than_the_metadata_tells_is_refused(alone):
    def change(metadata, index):
        entry = metadata.state_dict_metadata["model.weight"]
        entry.properties.dtype = torch.int32

    changed(alone, change)

    assert "holds another tensor" in refused(alone)


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
def test_metadata_that_is_none_is_a_clear_error(data, alone):
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


def test_a_cut_file_of_a_process_is_told(alone):
    (data,) = alone.glob("*.distcp")
    content = data.read_bytes()
    data.write_bytes(content[:-200])

    assert "bytes long, and should reach byte" in refused(alone)


@given(st.data())
def test_boxes_are_put_together_as_they_were_cut(data):
    """Any grid of boxes, in any order, gives the array again; one box less does not fill it."""
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    whole = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    pieces = [((0,) * len(shape), shape)]
    for axis in range(len(shape)):
        cuts = sorted({0, shape[axis], *data.draw(st.lists(st.integers(0, shape[axis]), max_size=2))})
        spans = list(pairwise(cuts))
        pieces = [
            ((*b[:axis], low, *b[axis + 1 :]), (*s[:axis], high - low, *s[axis + 1 :]))
            for b, s in pieces for low, high in spans
        ]  # fmt: skip

    def piece(begin, size):
        box = tuple(slice(b, b + n) for b, n in zip(begin, size, strict=True))
        return Piece(begin, size, lambda: iter([whole[box].reshape(-1)]))

    made = [piece(*p) for p in data.draw(st.permutations(pieces))]
    some = next(i for i, p in enumerate(made) if np.prod(p.shape))

    assert fill(shape, made)
    assert not fill(shape, made[:some] + made[some + 1 :])
    assert not fill(shape, [*made, made[some]])
    again = np.concatenate([block.copy() for block in joined(shape, made, whole.dtype)])
    np.testing.assert_array_equal(again, whole.reshape(-1))
