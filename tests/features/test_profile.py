"""Where a profiled program spent its time."""

from pathlib import Path

from loganalyst import diagnose

LOADS = "main (train.py:3);train (train.py:121);__next__ (torch/utils/data/dataloader.py:630)"
COMPUTES = "main (train.py:3);train (train.py:130);backward (torch/autograd/__init__.py:266)"
WORKER = "_worker_loop (torch/utils/data/_utils/worker.py:309)"


def profiled(folder: Path, samples: dict[str, int]) -> dict[str, object]:
    (folder / "train.log").write_text("".join(f"step {i} loss {3 - i / 30:.3f}\n" for i in range(30)))
    (folder / "profile.raw").write_text("".join(f"{stack} {n}\n" for stack, n in samples.items()))
    done = diagnose(folder)
    return {**done.features.values, "causes": [cause.id for cause in done.causes]}


def test_most_samples_wait_for_the_loader(tmp_path: Path) -> None:
    values = profiled(tmp_path, {LOADS: 620, COMPUTES: 380, WORKER: 5000})

    assert (values["profile_sample_count"], values["profile_share"]) == (1000, 0.62)
    assert values["profile_loader_share"] == 0.62
    assert values["profile_place"] == "waiting for its data loader"
    assert values["profile_frame"] == "train.py:121 in train"
    assert values["causes"] == ["data-loading"]


def test_most_samples_compute(tmp_path: Path) -> None:
    values = profiled(tmp_path, {LOADS: 100, COMPUTES: 900})

    assert (values["profile_place"], values["profile_loader_share"]) == ("in the backward pass", 0.1)
    assert "data-loading" not in values["causes"]  # type: ignore[operator]
