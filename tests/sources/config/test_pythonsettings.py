"""Settings in Python files."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.config import reader
from loganalyst.sources.config.pythonsettings import assignments

NANOGPT = """
import time
learning_rate = 6e-4 # max
batch_size, rest = 12, 3
block_size: int = 1024
gradient_accumulation_steps = 5 * 8
lr_decay_iters = max_iters = 600_000
beta2 = 0.95
run = 'gpt2' + str(time.time())
eps = -1e-8
if True:
    weight_decay = 0.1
"""


def test_nanogpt() -> None:
    """Literals and arithmetic on them; no calls, no conditions."""
    assert assignments(NANOGPT) == (
        {
            "learning_rate": 6e-4, "block_size": 1024, "gradient_accumulation_steps": 40, "lr_decay_iters": 600_000,
            "max_iters": 600_000, "beta2": 0.95, "eps": -1e-8,
        },
        "",
    )  # fmt: skip


def test_mmengine() -> None:
    """Calls of `dict`, lists, and names that were assigned before."""
    code = (
        "lr = 0.01\noptim_wrapper = dict(optimizer=dict(type='SGD', lr=lr, hook=f()), clip=None)\nsteps = [8, x, 11]\n"
    )

    assert assignments(code)[0] == {
        "lr": 0.01,
        "optim_wrapper": {"optimizer": {"type": "SGD", "lr": 0.01}, "clip": None},
        "steps": [8, 11],
    }


def test_classes() -> None:
    """The name of the class stands before its settings; a class without any is left out."""
    train = "class Train:\n    lr: float = 1e-3\n    layers = n * 3\n    def f(self):\n        x = 1\n"
    code = f"n = 2\n{train}class Empty:\n    pass\n"

    assert assignments(code)[0] == {"n": 2, "Train": {"lr": 1e-3, "layers": 6}}


def test_a_name_that_is_assigned_anew_is_not_known() -> None:
    assert assignments("lr = 1e-3\nlr = find()\nwd = 0.1\nwd = 0.2")[0] == {"wd": 0.2}


@pytest.mark.parametrize(
    "code", ["x = 10 ** 1000", "x = 1 / 0", "x = 'a' * 10 ** 9", "x = [1] * 99", "x = 1 << 90", "x = __import__('os')"]
)
def test_nothing_costly_is_worked_out(code: str) -> None:
    assert assignments(code) == ({}, "")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("lr = = 1", "not valid Python: line 1: invalid syntax"),
        ("x = 1\0", "not valid Python: source code string cannot contain null bytes"),
    ],
)
def test_faults(code: str, why: str) -> None:
    assert assignments(code) == ({}, why)


def test_deep_nesting_is_refused() -> None:
    found, why = assignments("x = " + "-" * 100_000 + "1")

    assert found == {}
    assert why.startswith("not valid Python")


def test_as_a_file(tmp_path: Path) -> None:
    """Rows with dotted keys; a file without literals says so."""
    file, empty = tmp_path / "train_gpt2.py", tmp_path / "train.py"
    file.write_text("opt = dict(lr=6e-4)\napi_key = 'sk-123456789012345678901234'\n")
    empty.write_text("import torch\n")
    rows = pl.concat(t.config for t in reader.read(file))
    gaps = pl.concat(t.gaps for t in reader.read(empty))

    assert reader.sniff(file, b"opt = 1") == 0.5
    assert rows.select("key", "number").row(0) == ("opt.lr", 6e-4)
    assert "sk-1" not in str(rows["value"].to_list())
    assert gaps["why"].to_list() == ["no literal is assigned in this Python file"]
