"""Checkpoints of torch, Lightning, HF and safetensors are loaded into a spec; misfits are named, no code runs."""

import os

import pytest
import safetensors.torch
import torch

from loganalyst.errors import ReplayError, SourceError
from loganalyst.replaying import stateloading
from loganalyst.replaying.spec import ReplaySpec
from tests.replaying import entries


def fresh(width=16):
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.Linear(width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    return ReplaySpec(model, optimizer, entries.mse, entries.data(), scheduler=scheduler)


@pytest.fixture(scope="module")
def trained():
    """A spec after five steps."""
    torch.manual_seed(0)
    made = fresh()
    torch.nn.init.normal_(made.model[0].weight)
    for step in range(5):
        made.loss(made.model, made.batch(step)).backward()
        made.optimizer.step()
        made.scheduler.step()
    return made


def states(made):
    return {
        "model": made.model.state_dict(),
        "optimizer": made.optimizer.state_dict(),
        "scheduler": made.scheduler.state_dict(),
        "step": 5,
        "rng_state": torch.get_rng_state(),
    }


def write_torch(path, made):
    torch.save(states(made), path / "x.pt")
    return path / "x.pt"


def write_lightning(path, made):
    s = states(made)
    module = {f"net.{name}": value for name, value in s["model"].items()}
    data = {
        "pytorch-lightning_version": "2.5", "global_step": 5, "epoch": 0, "state_dict": module,
        "optimizer_states": [s["optimizer"]], "lr_schedulers": [s["scheduler"]],
    }  # fmt: skip
    torch.save(data, path / "x.ckpt")
    return path / "x.ckpt"


def write_hf(path, made):
    s, folder = states(made), path / "checkpoint-5"
    folder.mkdir()
    safetensors.torch.save_file(s["model"], folder / "model.safetensors")
    torch.save(s["optimizer"], folder / "optimizer.pt")
    torch.save(s["scheduler"], folder / "scheduler.pt")
    torch.save({"cpu": s["rng_state"]}, folder / "rng_state.pth")
    (folder / "trainer_state.json").write_text('{"global_step": 5, "epoch": 0.1}')
    return folder


@pytest.mark.parametrize("write", [write_torch, write_lightning, write_hf])
def test_the_whole_state_of_a_training_is_restored(write, trained, tmp_path):
    made = fresh()

    found = stateloading.load(write(tmp_path, trained), made)

    assert found.step == 5
    assert found.notes == []
    assert (found.random_state is None) == (write is write_lightning)
    for name, value in trained.model.state_dict().items():
        assert torch.equal(made.model.state_dict()[name], value)
    assert made.scheduler.last_epoch == 5
    assert made.optimizer.param_groups[0]["lr"] == trained.optimizer.param_groups[0]["lr"] == pytest.approx(1e-3)
    moments = made.optimizer.state[made.model[0].weight]["exp_avg"]
    assert torch.equal(moments, trained.optimizer.state[trained.model[0].weight]["exp_avg"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_weights_alone_are_restored_and_the_optimiser_starts_from_scratch(dtype, trained, tmp_path):
    weights = {name: value.to(dtype) for name, value in trained.model.state_dict().items()}
    safetensors.torch.save_file(weights, tmp_path / "x.safetensors")
    made = fresh()

    found = stateloading.load(tmp_path / "x.safetensors", made)

    assert torch.equal(made.model[0].weight, weights["0.weight"].float())
    assert [note.split(":")[0] for note in found.notes] == [
        "the checkpoint has no state of an optimiser",
        "the checkpoint has no state of a scheduler",
    ]


def test_misfits_are_named(trained, tmp_path):
    weights = {**trained.model.state_dict(), "extra.weight": torch.ones(2)}
    weights["1.weight"] = torch.ones(1, 99)
    del weights["0.bias"]
    torch.save(weights, tmp_path / "x.pt")

    found = stateloading.load(tmp_path / "x.pt", fresh())

    assert found.notes[:3] == [
        "1 tensors of the checkpoint are missing: 0.bias",
        "1 tensors of the checkpoint are not in the model: extra.weight",
        "1 tensors of the checkpoint are of another shape: 1.weight",
    ]


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    torch.save({"decoder.weight": torch.ones(3)}, tmp_path / "x.pt")

    with pytest.raises(ReplayError, match="none of its 1 tensors fits the model of the entry, which has 4"):
        stateloading.load(tmp_path / "x.pt", fresh())


def test_a_state_of_other_groups_is_reported(trained, tmp_path):
    state = states(trained)
    state["optimizer"]["param_groups"][0]["params"] = [0]
    torch.save(state, tmp_path / "x.pt")

    assert (
        "the optimiser's state does not fit groups of [4] parameters: it starts from scratch"
        in stateloading.load(tmp_path / "x.pt", fresh()).notes
    )


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_a_malicious_pickle_is_refused_and_not_run(trained, tmp_path):
    torch.save({**states(trained), "x": Evil(tmp_path / "ran")}, tmp_path / "x.pt")

    with pytest.raises(SourceError, match=r"posix\.system"):
        stateloading.load(tmp_path / "x.pt", fresh())
    assert not (tmp_path / "ran").exists()


def test_a_malicious_state_next_to_the_model_is_left_out_and_not_run(trained, tmp_path):
    folder = write_hf(tmp_path, trained)
    torch.save({"x": Evil(tmp_path / "ran")}, folder / "optimizer.pt")

    notes = stateloading.load(folder, fresh()).notes

    assert any(note.startswith("optimizer.pt is not restored") for note in notes)
    assert not (tmp_path / "ran").exists()


def test_memory_is_estimated_before_loading(trained, tmp_path):
    """Weights three times (with gradients and the copy), Adam's two moments twice: 7 times the weights."""
    made = fresh()

    assert stateloading.needed_memory(write_torch(tmp_path, trained), made) == 7 * 4 * sum(
        p.numel() for p in made.model.parameters()
    )


@pytest.mark.parametrize("cuda", [lambda state: state, lambda state: [state, state + 1]], ids=["one", "of-each-gpu"])
def test_random_states_of_cpu_and_gpu_are_distinguished(cuda, trained, tmp_path):
    """As HF's Trainer and Accelerate write them, for one GPU or for each."""
    state = torch.arange(16, dtype=torch.uint8)
    cpu = torch.get_rng_state()
    torch.save({**states(trained), "rng_state": {"cpu": cpu, "cuda": cuda(state)}}, tmp_path / "x.pt")

    found = stateloading.load(tmp_path / "x.pt", fresh())

    assert torch.equal(found.random_state, cpu)
    assert torch.equal(found.cuda_state, state)


def test_several_optimisers_get_a_state_each(tmp_path):
    """As Lightning writes them, in the other order: each takes the one that fits its parameters."""

    def made(names):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(4, 1, bias=False))
        parts = {"first": torch.optim.AdamW(model[0].parameters()), "last": torch.optim.Adam(model[1].parameters())}
        return ReplaySpec(model, [parts[name] for name in names], entries.mse, entries.data())

    written, read = made(["first", "last"]), made(["last", "first"])
    written.loss(written.model, written.batch(0)).backward()
    written.optimizer.step()
    optimizers = [part.state_dict() for part in written.optimizer.parts]
    torch.save({"state_dict": written.model.state_dict(), "optimizer_states": optimizers}, tmp_path / "x.ckpt")

    found = stateloading.load(tmp_path / "x.ckpt", read)

    assert found.notes == []
    for mine, theirs in zip(read.model.parameters(), written.model.parameters(), strict=True):
        assert torch.equal(read.optimizer.state[mine]["exp_avg"], written.optimizer.state[theirs]["exp_avg"])
