"""Which files make up a checkpoint, and which are refused."""

import json
import os

import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst import cli
from loganalyst.checkpoint import layouts
from loganalyst.errors import SourceError
from tests.checkpoint.samples import (
    model,
    refused,
    trained,
)


@pytest.mark.parametrize(
    ("name", "form"), [("x.pt", "torch"), ("x.ckpt", "lightning"), ("x.safetensors", "safetensors")]
)
def test_the_format_is_known_by_the_contents(name, form, tmp_path):
    state = {"w": torch.ones(2)}
    if form == "safetensors":
        safetensors.torch.save_file(state, tmp_path / name)
    else:
        torch.save(state | ({"pytorch-lightning_version": "2.5"} if form == "lightning" else {}), tmp_path / name)

    found = layouts.read(tmp_path / name)

    assert (found.format, [t.name for t in found.tensors]) == (form, ["w"])


def test_forms_of_one_model_are_equal(tmp_path):
    """The same numbers as torch, safetensors and shards."""
    state = model().state_dict()
    torch.save(state, tmp_path / "a.pt")
    safetensors.torch.save_file(state, tmp_path / "b.safetensors")
    for i, name in enumerate(state):
        safetensors.torch.save_file({name: state[name]}, tmp_path / f"model-{i}.safetensors")
    index = {"weight_map": {name: f"model-{i}.safetensors" for i, name in enumerate(state)}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))

    found = la.inspect(tmp_path / "a.pt", tmp_path / "b.safetensors", tmp_path / "model.safetensors.index.json")

    tables = [{t.name: t for t in scan.tensors} for scan in found.checkpoints]
    assert tables[0] == tables[1] == tables[2]
    assert [{t.verdict for t in c.tensors} for c in found.changes] == [{"frozen"}, {"frozen"}]


def test_an_index_without_its_shards_is_refused(tmp_path):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"w": "gone.safetensors"}}))
    with pytest.raises(SourceError, match="no such file"):
        la.inspect(path)
    safetensors.torch.save_file({"v": torch.ones(1)}, tmp_path / "gone.safetensors")
    with pytest.raises(SourceError, match="1 tensors that no file has, such as 'w'"):
        la.inspect(path)


def test_a_folder_as_hf_trainer_writes_it_is_one_checkpoint(tmp_path):
    net, adam, plan = trained()
    safetensors.torch.save_file(net.state_dict(), tmp_path / "model.safetensors", metadata={"format": "pt"})
    torch.save(adam.state_dict(), tmp_path / "optimizer.pt")
    torch.save(plan.state_dict(), tmp_path / "scheduler.pt")
    (tmp_path / "trainer_state.json").write_text('{"epoch": 1.5, "global_step": 300, "log_history": []}')

    (scan,) = la.inspect(tmp_path).checkpoints

    assert (scan.format, scan.epoch, scan.step, scan.parameters) == ("folder, safetensors", 1.5, 300, 1650)
    assert scan.lr == pytest.approx((1e-3 / 8,))
    assert [len(o.moments) for o in scan.optimizers] == [6]


def test_a_trainer_state_with_nonsense_is_ignored(tmp_path):
    safetensors.torch.save_file(model().state_dict(), tmp_path / "model.safetensors")
    (tmp_path / "trainer_state.json").write_text('{"epoch": 1' + "0" * 4000 + ', "global_step": [3]}')

    (scan,) = la.inspect(tmp_path).checkpoints

    assert (scan.epoch, scan.step) == (None, None)


@pytest.mark.parametrize("name", ["../x.safetensors", "/etc/passwd", "..", "a/b", "..\\x", "", "y.index.json"])
def test_an_index_names_no_file_elsewhere(name, tmp_path):
    safetensors.torch.save_file({"w": torch.ones(1)}, tmp_path / "x.safetensors")
    index = tmp_path / "in" / "model.safetensors.index.json"
    index.parent.mkdir()
    index.write_text(json.dumps({"weight_map": {"w": name}}))

    assert "names " in refused(index)


@pytest.mark.parametrize("text", ["[]", "{}", '{"weight_map": 3}', '{"weight_map": {"a": 1}}', "{", "[" * 100_000])
def test_an_invalid_index_is_refused(text, tmp_path):
    (tmp_path / "model.safetensors.index.json").write_text(text)

    assert refused(tmp_path)


@pytest.mark.parametrize("form", ["safetensors", "torch"])
def test_a_file_cut_anywhere_is_a_clear_error(form, tmp_path):
    tensors = {"w": torch.randn(40, 20), "b": torch.randn(40)}
    whole, path = (tmp_path / f"{name}.{'pt' if form == 'torch' else 'safetensors'}" for name in ("whole", "x"))
    safetensors.torch.save_file(tensors, whole) if form == "safetensors" else torch.save(tensors, whole)
    content = whole.read_bytes()
    assert len(la.inspect(whole).checkpoints[0].tensors) == 2

    for length in range(0, len(content), 100):
        path.write_bytes(content[:length])
        assert refused(path)


@pytest.mark.parametrize("form", ["safetensors", "torch"])
def test_damaged_bytes_are_read_or_refused_and_nothing_else(form, tmp_path):
    """A byte changed somewhere: the numbers differ, or it is our error."""
    tensors = {"w": torch.arange(12.0), "b": torch.ones(2, 2)}
    path = tmp_path / f"x.{'pt' if form == 'torch' else 'safetensors'}"
    safetensors.torch.save_file(tensors, path) if form == "safetensors" else torch.save(tensors, path)
    content = path.read_bytes()
    read = 0
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xA5]) + content[at + 1 :])
        try:
            read += len(la.inspect(path).checkpoints)
        except SourceError:
            read += 0
    assert read > 0


def test_a_file_that_is_not_a_checkpoint_is_exit_2(tmp_path, capsys):
    (tmp_path / "empty.pt").touch()
    (tmp_path / "text.pt").write_text("loss 3.2\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/__0_0.distcp").touch()
    os.mkfifo(tmp_path / "fifo.pt")
    complaints = {"gone.pt": "no such file", "empty.pt": "is empty", "text.pt": "is not a checkpoint",
            "parts": "files of single processes", "fifo.pt": "neither a file nor a folder"}  # fmt: skip
    for name, words in complaints.items():
        with pytest.raises(SystemExit) as stop:
            cli.main(["inspect", str(tmp_path / name)])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
