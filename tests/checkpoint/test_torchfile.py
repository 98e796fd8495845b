"""Files of torch.save: what would run code, lies or is cut off is refused, and nothing runs."""

import enum
import pickle
import sys
import types
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
import torch

import loganalyst as la
from loganalyst.checkpoint import torchfile
from loganalyst.errors import SourceError
from tests.checkpoint import enums
from tests.checkpoint.samples import Evil, as_stored, refused


def test_tensors_share_their_storage_only_if_they_are_the_same_view():
    whole = torch.arange(6.0).reshape(2, 3)
    row = as_stored("row", whole[1:])

    assert as_stored("a", whole).storage == as_stored("b", whole).storage != row.storage
    assert [block.tolist() for block in row.raw()] == [[3.0, 4.0, 5.0]]


def test_a_flat_tensor_has_one_axis():
    values = (torch.ones(3), torch.ones(3, 1), np.ones(3))

    assert [torchfile.is_flat(value) for value in values] == [True, False, False]


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_that_would_run_code_is_refused_and_not_run(legacy, tmp_path):
    torch.save(
        {"w": torch.ones(3), "x": Evil(tmp_path / "ran")}, tmp_path / "x.pt", _use_new_zipfile_serialization=not legacy
    )

    error = refused(tmp_path / "x.pt")

    assert ("can run code" if legacy else "posix.system") in error
    assert "state_dict" in error
    assert not (tmp_path / "ran").exists()


def test_a_plain_pickle_is_refused_and_not_run(tmp_path):
    (tmp_path / "x.ckpt").write_bytes(pickle.dumps(Evil(tmp_path / "ran")))

    assert "can run code" in refused(tmp_path / "x.ckpt")
    assert not (tmp_path / "ran").exists()


def test_a_whole_saved_model_is_refused_with_its_classes_named(tmp_path):
    torch.save(torch.nn.Linear(2, 2), tmp_path / "x.pt")

    assert "torch.nn.modules.linear.Linear" in refused(tmp_path / "x.pt")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
        archive.writestr("archive/data/0", b"\0" * 50_000_000)

    assert "would unpack to 50" in refused(path)


def test_archives_of_something_else_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr("x.npy", b"1")
    with zipfile.ZipFile(tmp_path / "b.pt", "w") as archive:
        archive.writestr("../../data.pkl", pickle.dumps({}))

    assert "not of torch.save" in refused(tmp_path / "a.pt")
    assert "outside its folder" in refused(tmp_path / "b.pt")


def test_without_torch_the_extra_is_named(tmp_path, monkeypatch):
    torch.save({"w": torch.ones(3)}, tmp_path / "x.pt")
    monkeypatch.setitem(__import__("sys").modules, "torch", None)

    assert "pip install '.[replay]'" in refused(tmp_path / "x.pt")


@pytest.fixture
def stages(monkeypatch):
    """DeepSpeed's enum of stages, and one that no checkpoint has."""
    name = "deepspeed.runtime.zero.config"
    module = types.ModuleType(name)
    for part in ("deepspeed", "deepspeed.runtime", "deepspeed.runtime.zero"):
        monkeypatch.setitem(sys.modules, part, types.ModuleType(part))
    monkeypatch.setitem(sys.modules, name, module)
    module.ZeroStageEnum = enum.IntEnum("ZeroStageEnum", ["weights"], module=name)
    module.Other = enum.IntEnum("Other", ["weights"], module=name)
    return module


def test_an_enum_that_python_3_11_2_wrote_is_read_and_another_is_not(stages, tmp_path):
    path, weights = tmp_path / "x.pt", torch.ones(2)
    torch.save({"w": weights, "zero_stage": stages.ZeroStageEnum.weights}, path, pickle_module=enums)
    assert b"getattr" in path.read_bytes()
    assert [t.name for t in la.inspect(path).checkpoints[0].tensors] == ["w"]

    torch.save({"w": weights, "zero_stage": stages.Other.weights}, path, pickle_module=enums)
    with pytest.raises(SourceError, match=r"which is not run: deepspeed\.runtime\.zero\.config\.Other"):
        la.inspect(path)


@pytest.mark.parametrize(("of", "name"), [(torch.Tensor, "add_"), (torch.Size, "__new__"), (OrderedDict, "clear")])
def test_getattr_of_a_class_that_is_no_enum_is_refused(of, name, tmp_path):
    class Reached:
        def __reduce__(self):
            return getattr, (of, name)

    torch.save({"w": torch.ones(2), "x": Reached()}, tmp_path / "x.pt")
    with pytest.raises(SourceError, match=r"which is not run: builtins\.getattr"):
        la.inspect(tmp_path / "x.pt")
