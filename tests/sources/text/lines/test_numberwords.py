"""Words that classify printed numbers."""

import pytest

from loganalyst.sources.text.lines import numberwords


@pytest.mark.parametrize("name", ["step", "global step", "train/step", "iter num", "batch idx", "episode"])
def test_names_of_steps(name: str) -> None:
    assert numberwords.STEP.match(name)
    assert not numberwords.NOT_POSITION.search(name)


@pytest.mark.parametrize(
    "name", ["max steps", "steps per epoch", "warmup steps", "best step", "avg steps", "mean episode steps"]
)
def test_counts_and_settings_are_no_positions(name: str) -> None:
    assert numberwords.NOT_POSITION.search(name)


@pytest.mark.parametrize("name", ["epoch", "train epoch", "轮", "epoch idx"])
def test_names_of_epochs(name: str) -> None:
    assert numberwords.EPOCH.match(name)


@pytest.mark.parametrize(
    ("name", "result", "setting"),
    [("train loss", True, False), ("loss weight", True, True), ("lr", False, False), ("batch size", False, True)],
)
def test_results_and_settings(name: str, result: bool, setting: bool) -> None:
    """A setting may contain a word of results."""
    assert bool(numberwords.STRONG.search(name)) == result
    assert bool(numberwords.CONFIGURED.search(name)) == setting


@pytest.mark.parametrize("name", ["pid", "world size", "eta", "x", "train.py", "https://a/b"])
def test_names_that_are_never_metrics(name: str) -> None:
    assert numberwords.NEVER.search(name)
    assert not numberwords.NEVER.search("loss")
