"""Findings on checkpoints, the worst first."""

import math

import safetensors.torch
import torch

import loganalyst as la
from loganalyst.checkpoint import findings, wholecheckpoint
from loganalyst.checkpoint.scanprogress import Steps
from tests.checkpoint.samples import (
    contents,
    kinds,
    model,
    run,
    trained,
)


def test_a_sentence_names_three_tensors_and_the_finding_all():
    bad = torch.full((4,), math.nan)
    tensors = contents(**dict.fromkeys("abcde", bad), fine=torch.ones(4))
    (found,) = findings.find([wholecheckpoint.scan_checkpoint(tensors, Steps(0))], [])

    assert found.text == "5 tensors of the model hold NaN: a (4 of 4), b (4 of 4), c (4 of 4) and 2 more"
    assert (found.kind, found.severity, found.tensors) == ("nonfinite", "unusable", tuple("abcde"))


def test_nan_is_named_worst_first_and_is_exit_1(tmp_path, capsys):
    state = model().state_dict()
    state["head.bias"][:] = float("nan")
    state["embed.weight"][3, 2] = float("inf")
    safetensors.torch.save_file(state, tmp_path / "x.safetensors")

    assert run("inspect", tmp_path / "x.safetensors") == 1
    out = capsys.readouterr().out
    assert out.startswith("✗ Unusable: values that are not finite\n")
    assert "2 tensors of the model hold NaN and Inf: head.bias (50 of 50), embed.weight (1 of 800)" in out


def test_the_state_of_the_optimiser_is_judged(tmp_path):
    net, adam, _ = trained()
    state = adam.state_dict()
    state["state"][0]["exp_avg_sq"][0, 0] = 1e12
    state["state"][1]["exp_avg"][0, 0] = float("nan")
    torch.save({"net": net.state_dict(), "optimizer": state}, tmp_path / "x.pt")

    found = la.inspect(tmp_path / "x.pt")

    assert kinds(found) == ["nonfinite_optimizer", "blown_up"]
    assert [f.tensors for f in found.findings] == [("1.exp_avg",), ("0.exp_avg_sq",)]
    assert found.unusable


def test_an_eps_above_the_gradients_is_reported(tmp_path):
    _, adam, _ = trained()
    state = adam.state_dict()
    state["param_groups"][0]["eps"] = 10.0
    torch.save({"optimizer": state}, tmp_path / "x.pt")

    found = la.inspect(tmp_path / "x.pt")

    assert kinds(found) == ["eps_dominated"]
    assert found.checkpoints[0].optimizers[0].eps_share == 1.0


def test_a_collapsed_scale_dead_rows_and_heavy_embeddings_are_reported(tmp_path):
    state = {"wte.weight": torch.ones(100, 8), "head.weight": torch.ones(40, 8), "lora.B": torch.zeros(4, 4)}
    state["head.weight"][:7] = 0.0
    torch.save({"model": state, "scaler": {"scale": 0.25, "growth_factor": 2.0}}, tmp_path / "x.pt")

    found = la.inspect(tmp_path / "x.pt")

    assert kinds(found) == ["scale_collapsed", "dead_rows", "zeros", "embedding_share"]
    assert "head.weight (7 of 40)" in found.findings[1].text
    assert not found.unusable
