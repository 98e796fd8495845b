"""Checkpoints of a run as evidence of a diagnosis that inspects them."""

import csv
import json

import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst import cli


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


@pytest.fixture
def run(tmp_path):
    """A training that writes its loss every step and a checkpoint every 100."""
    folder = tmp_path / "run"
    folder.mkdir()
    model = net()
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(64, 8), torch.randint(0, 4, (64,))
    with (folder / "metrics.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["step", "train_loss"])
        for step in range(1, 401):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            adam.zero_grad()
            loss.backward()
            adam.step()
            rows.writerow([step, loss.item()])
            if step % 100 == 0:
                torch.save(
                    {"model": model.state_dict(), "optimizer": adam.state_dict(), "step": step},
                    folder / f"step-{step}.pt",
                )
    return folder


def changed(path, change):
    data = torch.load(path, weights_only=True)
    change(data)
    torch.save(data, path)


def values(run, **options):
    return la.diagnose(run, checkpoints=True, **options).features.values


def test_checkpoints_are_inspected_only_on_request(run):
    known = la.diagnose(run).features.values

    assert {v for name, v in known.items() if name.startswith("checkpoint_")} == {None}


def test_a_sound_run_has_nothing_wrong_in_its_checkpoints(run):
    before, found = la.diagnose(run), la.diagnose(run, checkpoints=True)
    known = found.features.values

    assert (known["checkpoint_inspected_count"], known["checkpoint_last_step"]) == (2, 400)
    assert known["checkpoint_compared_steps"] == 100
    assert [known[f"checkpoint_{name}"] for name in (
        "nonfinite_count", "unreadable_count", "frozen_count", "reset_count", "optimizer_nonfinite_count",
        "blown_up_count", "dead_share", "eps_share",
    )] == [0, 0, 0, 0, 0, 0, 0.0, 0.0]  # fmt: skip
    assert known["checkpoint_loss_scale"] is None
    assert (found.status, [c.id for c in found.causes]) == (before.status, [c.id for c in before.causes])


def test_nan_in_the_weights_is_a_cause_and_the_last_finite_checkpoint_is_named(run):
    for step in (300, 400):
        changed(run / f"step-{step}.pt", lambda d: d["model"]["2.bias"].fill_(torch.nan))
    found = la.diagnose(run, checkpoints=True)

    assert found.causes[0].id == "nan-loss"
    assert found.causes[0].fix[0].change.startswith("resume from the checkpoint of step 200, ")
    (item,) = [e for e in found.causes[0].evidence if e.id == "weights-nonfinite"]
    assert (item.holds, item.text) == (
        True, "the checkpoint of step 400 contains NaN or Inf, most in 2.bias (affected tensors: 1)"
    )  # fmt: skip
    assert found.run.inspection.checkpoints[0].step == 200
    assert found.run.inspection.unusable


def test_frozen_weights_are_a_cause(run):
    def still(data):
        data["model"] = torch.load(run / "step-300.pt", weights_only=True)["model"]

    changed(run / "step-400.pt", still)
    found = la.diagnose(run, checkpoints=True)

    assert found.causes[0].id == "frozen-parameters"
    assert "no tensor changed between two checkpoints, 100 steps apart" in [s.text for s in found.symptoms]


def test_a_copy_of_the_last_checkpoint_is_not_frozen(run):
    torch.save(torch.load(run / "step-400.pt", weights_only=True), run / "last.pt")
    known = values(run)

    assert (known["checkpoint_compared_steps"], known["checkpoint_frozen_count"]) == (100, 0)


def test_dead_rows_and_the_state_of_the_scaler_are_known(run):
    def change(data):
        data["model"]["0.weight"][:12] = 0.0
        data["scaler"] = {"scale": 0.25, "growth_factor": 2.0}

    changed(run / "step-400.pt", change)
    found = la.diagnose(run, checkpoints=True)
    known = found.features.values

    assert (known["checkpoint_dead_share"], known["checkpoint_dead_metric"]) == (0.75, "0.weight")
    assert known["checkpoint_loss_scale"] == 0.25
    assert {"dead-units", "fp16-overflow"} <= {c.id for c in found.causes}


def test_a_cut_checkpoint_is_reported_and_skipped(run):
    path = run / "step-400.pt"
    path.write_bytes(path.read_bytes()[:2000])
    found = la.diagnose(run, checkpoints=True)
    known = found.features.values

    assert (known["checkpoint_unreadable_count"], known["checkpoint_last_step"]) == (1, 300)
    assert known["checkpoint_unreadable_text"].startswith("step-400.pt cannot be read: it is damaged or cut off")
    assert found.causes[0].id == "checkpoint-unreadable"


def test_folders_are_one_checkpoint_each(run):
    """As HF Trainer writes them."""
    for step in (100, 200, 300, 400):
        data = torch.load(run / f"step-{step}.pt", weights_only=True)
        folder = run / f"checkpoint-{step}"
        folder.mkdir()
        safetensors.torch.save_file(data["model"], folder / "model.safetensors")
        torch.save(data["optimizer"], folder / "optimizer.pt")
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "epoch": 1.0, "log_history": []}))
        (run / f"step-{step}.pt").unlink()
    found = la.diagnose(run, checkpoints=True)

    assert [scan.path.name for scan in found.run.inspection.checkpoints] == ["checkpoint-300", "checkpoint-400"]
    assert found.features.values["checkpoint_optimizer_nonfinite_count"] == 0


def test_a_run_without_checkpoints_has_none(run):
    for path in run.glob("*.pt"):
        path.unlink()

    assert values(run)["checkpoint_inspected_count"] is None


def test_the_command_looks_where_asked(run, capsys):
    changed(run / "step-400.pt", lambda d: d["model"]["2.bias"].fill_(torch.nan))
    for arguments, code in ((["diagnose", run], 0), (["diagnose", run, "--checkpoints"], 1)):
        with pytest.raises(SystemExit) as stop:
            cli.main(list(map(str, arguments)))
        assert int(stop.value.code or 0) == code
    assert "the checkpoint of step 400 contains NaN or Inf, most in 2.bias" in capsys.readouterr().out
