"""Features of files that the config names: existing, missing, or on another machine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from loganalyst.features import artefacts
from loganalyst.features.context import Context
from loganalyst.model import Features


@pytest.mark.parametrize(
    ("config", "named", "missing"),
    [
        ({"resume_from": "ckpt/best.pt"}, 1, 0),
        ({"resume_from": "ckpt/last.pt"}, 1, 1),
        ({"model.checkpoint_path": "./ckpt/last.pt", "log_dir": "logs/a"}, 2, 2),
        ({"log_dir": "above"}, 0, 0),
        ({"data_path": "../above.csv"}, 1, 0),
        ({"resume_from": "/no_such_root/x/best.pt"}, 0, 0),
        ({"pretrained": "bert-base-uncased", "init_from": "scratch", "output_dir": "out/x.pt"}, 0, 0),
        ({"checkpoint": "s3://bucket/best.pt"}, 0, 0),
    ],
)
def test_paths_are_looked_up_on_the_disk(
    features_of: Callable[..., Features], tmp_path: Path, config: dict[str, str], named: int, missing: int
) -> None:
    """Relative to the run or a folder above it; model names, addresses, outputs and other machines are left out."""
    run = tmp_path / "run"
    (run / "ckpt").mkdir(parents=True)
    (run / "ckpt/best.pt").touch()
    (tmp_path / "above.csv").touch()
    values = features_of({"loss": [1.0] * 9}, config=config, path=run).values

    assert (values["artefact_named_count"], values["artefact_missing_count"]) == (named, missing)


def test_the_first_missing_file_is_named(features_of: Callable[..., Features], tmp_path: Path) -> None:
    """With the setting that names it; without a config nothing is known."""
    config = {"lr": 0.1, "weights": "w.safetensors", "val_file": "v.csv"}
    values = features_of({"loss": [1.0] * 9}, config=config, path=tmp_path).values

    assert (values["artefact_missing_key"], values["artefact_missing_path"]) == ("weights", "w.safetensors")
    assert features_of({"loss": [1.0] * 9}, path=tmp_path).values["artefact_named_count"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """A run without a config names no files."""
    assert artefacts.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
