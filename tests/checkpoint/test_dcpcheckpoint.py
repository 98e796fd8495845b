"""Checkpoints of torch.distributed.checkpoint, by its own writer: of two processes with FSDP, and of this one."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.distributed.checkpoint.state_dict import get_state_dict

import loganalyst as la
from loganalyst.checkpoint import dcpcheckpoint
from tests.checkpoint.samples import Evil, change_metadata, refused, save_distributed, trained_linear

WRITER = Path(__file__).with_name("written_by_two.py")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distributed") / "step-1"
    subprocess.run([sys.executable, WRITER, folder], check=True, capture_output=True)
    return folder


def test_files_of_two_processes_are_one_model(two):
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

    assert [t.name for t in dcpcheckpoint.read(alone).tensors] == [t.name for t in scan.tensors] == ["weight", "bias"]
    assert (scan.step, scan.epoch, scan.lr, scan.rng) == (7, 2.0, (0.005,), ("rng_state",))
    assert [(o.step, o.eps, len(o.moments)) for o in scan.optimizers] == [(1, 1e-8, 4)]


def test_a_model_and_its_optimiser_in_two_folders_are_one_checkpoint(tmp_path):
    """As Accelerate saves FSDP, next to the state of HF Trainer."""
    net, adam, plan = trained_linear()
    parameters, optimizer = get_state_dict(net, adam)
    save_distributed({"model": parameters}, tmp_path / "pytorch_model_fsdp_0")
    save_distributed({"optimizer": optimizer}, tmp_path / "optimizer_0")
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
    (scan,) = la.inspect(save_distributed({"w": base.t()}, tmp_path / "x")).checkpoints

    assert (scan.tensors[0].shape, scan.tensors[0].dead_rows, scan.tensors[0].max) == ((4, 3), 1, 11.0)


class Own:
    pass


def test_an_entry_that_needs_code_is_left_out_and_reported(tmp_path):
    found = la.inspect(save_distributed({"w": torch.ones(3), "own": Own()}, tmp_path / "x"))

    assert [f.kind for f in found.findings] == ["not_read"]
    assert "own needs code to be read, which is not run" in found.findings[0].text
    assert [t.name for t in found.checkpoints[0].tensors] == ["w"]


def test_an_entry_that_would_run_code_is_not_run(alone, tmp_path):
    folder = save_distributed({"w": torch.ones(3), "evil": Own()}, tmp_path / "x")
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


def test_a_tensor_that_contradicts_the_metadata_is_refused(alone):
    def change(metadata, index):
        entry = metadata.state_dict_metadata["model.weight"]
        entry.properties.dtype = torch.int32

    change_metadata(alone, change)

    assert "holds another tensor" in refused(alone)


def test_a_cut_file_of_a_process_is_refused(alone):
    (data,) = alone.glob("*.distcp")
    content = data.read_bytes()
    data.write_bytes(content[:-200])

    assert "bytes long, and should reach byte" in refused(alone)
