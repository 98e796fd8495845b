"""What is said of checkpoints as real trainings write them: findings, layouts, changes, the command."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import lightning
import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst import cli
from loganalyst.errors import SourceError
from loganalyst.report.inspection import screen
from loganalyst.report.inspection.schema import schema

DOCS = Path(__file__).parents[2] / "docs"


def model():
    torch.manual_seed(0)
    return torch.nn.ModuleDict({"embed": torch.nn.Embedding(50, 16), "head": torch.nn.Linear(16, 50)})


def trained(steps=3, rate=1e-3):
    """A model, its optimiser after some steps, and the scheduler."""
    net = model()
    adam = torch.optim.AdamW(net.parameters(), lr=rate)
    plan = torch.optim.lr_scheduler.StepLR(adam, 1, 0.5)
    for step in range(steps):
        adam.zero_grad()
        out = net["head"](net["embed"](torch.arange(50)))
        torch.nn.functional.cross_entropy(out, torch.arange(50).roll(step)).backward()
        adam.step()
        plan.step()
    return net, adam, plan


def kinds(found):
    return [f.kind for f in found.findings]


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    return int(stop.value.code or 0)


@pytest.fixture
def saved(tmp_path):
    net, adam, plan = trained()
    scaler = {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 9, "_growth_tracker": 1}
    whole = {"model_state_dict": net.state_dict(), "opt": adam.state_dict(), "plan": plan.state_dict(),
             "amp": scaler, "epoch": 2, "global_step": 3, "rng_state": torch.get_rng_state()}  # fmt: skip
    torch.save(whole, tmp_path / "last.pt")
    return tmp_path / "last.pt"


def test_a_sound_checkpoint_has_no_findings(saved):
    found = la.inspect(saved)
    (scan,) = found.checkpoints

    assert (found.findings, found.unusable) == ((), False)
    assert [t.name for t in scan.tensors] == ["embed.weight", "head.weight", "head.bias"]
    assert (scan.format, scan.parameters, scan.epoch, scan.step, scan.loss_scale) == ("torch", 1650, 2.0, 3, 1024.0)
    assert scan.lr == pytest.approx((1e-3 / 8,))
    assert scan.embedding_share == 800 / 1650
    assert [(m.name, m.parameters) for m in scan.modules] == [("embed", 800), ("head", 850)]
    (adam,) = scan.optimizers
    assert (adam.step, adam.eps, len(adam.moments), adam.blown_up, adam.eps_share) == (3, 1e-8, 6, (), 0.0)


def test_nan_is_named_the_worst_first_and_ends_with_exit_1(tmp_path, capsys):
    state = model().state_dict()
    state["head.bias"][:] = float("nan")
    state["embed.weight"][3, 2] = float("inf")
    safetensors.torch.save_file(state, tmp_path / "x.safetensors")

    assert run("inspect", tmp_path / "x.safetensors") == 1
    told = capsys.readouterr().out
    assert told.startswith("✗ Unusable: values that are not finite\n")
    assert "2 tensors of the model hold NaN and Inf: head.bias (50 of 50), embed.weight (1 of 800)" in told


def test_what_the_optimiser_holds_is_judged(tmp_path):
    net, adam, _ = trained()
    state = adam.state_dict()
    state["state"][0]["exp_avg_sq"][0, 0] = 1e12
    state["state"][1]["exp_avg"][0, 0] = float("nan")
    torch.save({"net": net.state_dict(), "optimizer": state}, tmp_path / "x.pt")

    found = la.inspect(tmp_path / "x.pt")

    assert kinds(found) == ["nonfinite_optimizer", "blown_up"]
    assert [f.tensors for f in found.findings] == [("1.exp_avg",), ("0.exp_avg_sq",)]
    assert found.unusable


def test_an_eps_above_the_gradients_is_told(tmp_path):
    _, adam, _ = trained()
    state = adam.state_dict()
    state["param_groups"][0]["eps"] = 10.0
    torch.save({"optimizer": state}, tmp_path / "x.pt")

    found = la.inspect(tmp_path / "x.pt")

    assert kinds(found) == ["eps_dominated"]
    assert found.checkpoints[0].optimizers[0].eps_share == 1.0


def test_a_collapsed_scale_dead_rows_and_heavy_embeddings_are_told(tmp_path):
    state = {"wte.weight": torch.ones(100, 8), "head.weight": torch.ones(40, 8), "lora.B": torch.zeros(4, 4)}
    state["head.weight"][:7] = 0.0
    torch.save({"model": state, "scaler": {"scale": 0.25, "growth_factor": 2.0}}, tmp_path / "x.pt")

    found = la.inspect(tmp_path / "x.pt")

    assert kinds(found) == ["scale_collapsed", "dead_rows", "zeros", "embedding_share"]
    assert "head.weight (7 of 40)" in found.findings[1].text
    assert not found.unusable


def test_tied_tensors_count_once(tmp_path):
    net = model()
    net["head"].weight = net["embed"].weight
    torch.save(net.state_dict(), tmp_path / "x.pt")

    (scan,) = la.inspect(tmp_path / "x.pt").checkpoints

    assert scan.tied == (("embed.weight", "head.weight"),)
    assert scan.parameters == 850


def test_frozen_runaway_and_reset_tensors_are_found(tmp_path):
    torch.manual_seed(1)
    old = {f"layer.{i}.weight": torch.randn(30, 30) for i in range(8)}
    new = {name: t * 1.001 for name, t in old.items()}
    new["layer.1.weight"] = old["layer.1.weight"]
    new["layer.2.weight"] = old["layer.2.weight"] * 1.5
    new["layer.3.weight"] = torch.randn(30, 30)
    new["layer.4.weight"] = torch.ones(2)
    safetensors.torch.save_file(old, tmp_path / "old.safetensors")
    safetensors.torch.save_file(new, tmp_path / "new.safetensors")

    found = la.inspect(tmp_path / "old.safetensors", tmp_path / "new.safetensors")

    told = {f.kind: f.tensors for f in found.findings}
    assert told == {"reset": ("layer.3.weight",), "runaway": ("layer.2.weight",), "frozen": ("layer.1.weight",),
                    "missing": ("layer.4.weight",)}  # fmt: skip
    change = {t.name: t.relative for t in found.changes[0].tensors}
    assert change["layer.0.weight"] == pytest.approx(0.001, rel=1e-3)
    assert change["layer.2.weight"] == pytest.approx(0.5, rel=1e-6)
    assert found.changes[0].median == pytest.approx(0.001, rel=1e-3)


def test_two_equal_checkpoints_learned_nothing(saved):
    found = la.inspect(saved, saved)

    assert [(f.kind, f.severity) for f in found.findings] == [("frozen", "warning")]


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


def test_a_trainer_state_that_tells_nonsense_tells_nothing(tmp_path):
    safetensors.torch.save_file(model().state_dict(), tmp_path / "model.safetensors")
    (tmp_path / "trainer_state.json").write_text('{"epoch": 1' + "0" * 4000 + ', "global_step": [3]}')

    (scan,) = la.inspect(tmp_path).checkpoints

    assert (scan.epoch, scan.step) == (None, None)


def test_the_command_prints_the_schema(capsys):
    assert run("schema", "inspection") == 0
    assert json.loads(capsys.readouterr().out) == schema()


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters({"lr": 0.1})
        self.body = torch.nn.Linear(4, 1)

    def training_step(self, batch, _):
        return self.body(batch).square().mean()

    def configure_optimizers(self):
        adam = torch.optim.Adam(self.parameters(), lr=0.1)
        return [adam], [torch.optim.lr_scheduler.StepLR(adam, 1, 0.5)]


def test_a_checkpoint_of_lightning_is_read(tmp_path):
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        default_root_dir=tmp_path, enable_checkpointing=False,
    )  # fmt: skip
    trainer.fit(Net(), torch.utils.data.DataLoader(torch.ones(6, 4), batch_size=2))
    trainer.save_checkpoint(tmp_path / "last.ckpt")

    (scan,) = la.inspect(tmp_path / "last.ckpt").checkpoints

    assert (scan.format, scan.step, [t.name for t in scan.tensors]) == ("lightning", 6, ["body.weight", "body.bias"])
    assert [(o.step, len(o.moments)) for o in scan.optimizers] == [(6, 4)]
    assert scan.lr == pytest.approx((0.025,))


def test_nothing_is_written_to_a_checkpoint(saved):
    before = (saved.read_bytes(), saved.stat().st_mtime_ns)
    saved.chmod(0o400)
    la.inspect(saved)

    assert (saved.read_bytes(), saved.stat().st_mtime_ns) == before


def test_the_json_fits_its_schema_and_is_published(saved, tmp_path, capsys):
    safetensors.torch.save_file({"embed.weight": torch.full((50, 16), torch.inf)}, tmp_path / "x.safetensors")

    assert run("inspect", saved, tmp_path / "x.safetensors", "--format", "json") == 1
    data = json.loads(capsys.readouterr().out)

    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(data, schema())
    assert (data["schema"], data["unusable"]) == ("loganalyst/inspection/1", True)
    assert data["checkpoints"][1]["tensors"][0]["inf"] == 800
    assert json.dumps(schema(), indent=2) + "\n" == (DOCS / "schema/inspection-1.json").read_text(encoding="utf-8")


def test_the_report_shows_as_many_tensors_as_asked(saved, capsys):
    assert run("inspect", saved, "--top", 1) == 0
    told = capsys.readouterr().out

    assert told.startswith("✓ Everything is finite\n")
    assert "embed.weight  50×16" in told
    assert "head.bias" not in told
    assert "and 2 more tensors" in told
    assert max(map(len, told.splitlines())) <= 100
    assert screen.render(la.inspect(saved, saved), ascii_only=True).isascii()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read where Linux tells it")
def test_memory_stays_small_however_long_the_file(tmp_path):
    """300 MB in one tensor: the process never has 30 MB more than before."""
    path = tmp_path / "x.safetensors"
    head = json.dumps({"w": {"dtype": "BF16", "shape": [150_000, 1000], "data_offsets": [0, 300_000_000]}}).encode()
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        file.truncate(8 + len(head) + 300_000_000)
    code = """
import re, sys
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
from loganalyst.checkpoint import inspect
before = peak()
found = inspect(sys.argv[1])
print(found.checkpoints[0].tensors[0].zeros, peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)

    zeros, grown = map(int, done.stdout.split())
    assert zeros == 150_000_000
    assert grown < 30
