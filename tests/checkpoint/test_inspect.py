"""Checkpoints of real trainings, and the command that inspects them."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst.report.inspection import screen
from loganalyst.report.inspection.schema import schema
from tests.checkpoint.samples import run

DOCS = Path(__file__).parents[2] / "docs"


def test_the_command_prints_the_schema(capsys):
    assert run("schema", "inspection") == 0
    assert json.loads(capsys.readouterr().out) == schema()


def test_a_checkpoint_of_lightning_is_read(tmp_path):
    import lightning  # takes seconds; one worker of the tests needs it

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
    out = capsys.readouterr().out

    assert out.startswith("✓ Everything is finite\n")
    assert "embed.weight  50×16" in out
    assert "head.bias" not in out
    assert "and 2 more tensors" in out
    assert max(map(len, out.splitlines())) <= 100
    assert screen.render(la.inspect(saved, saved), ascii_only=True).isascii()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux reports the peak")
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
