"""Parameters of a model that its log prints."""

from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.features.printedparameters import printed_parameters

LIGHTNING = "{}     Trainable params\n{}         Non-trainable params\n{}     Total params\n"
KERAS = " Total params: {} (64.16 KB)\n Trainable params: {} (1.29 KB)\n Non-trainable params: {} (62.88 KB)\n"
STEPS = "".join(f"step {i} loss {2 - i / 10}\n" for i in range(10))


@pytest.mark.parametrize(
    ("summary", "trained", "total"),
    [
        (LIGHTNING.format("1.2 K", "3.6 K", "4.8 K"), 1200.0, 4800.0),
        (LIGHTNING.format("210 M", "0", "210 M"), 210e6, 210e6),
        (KERAS.format("16,426", "330", "16,096"), 330.0, 16426.0),
    ],
)
def test_a_summary_states_both_numbers(tmp_path: Path, summary: str, trained: float, total: float) -> None:
    """They give the parameters of the model and the share that is trained."""
    (tmp_path / "job.log").write_text(summary + STEPS)
    found = la.diagnose(tmp_path / "job.log")

    assert printed_parameters(found.run) == pytest.approx((trained, total))
    assert found.features.values["config_parameters"] == pytest.approx(total)
    assert found.features.values["config_trainable_share"] == pytest.approx(trained / total)


@pytest.mark.parametrize(
    "text",
    [
        LIGHTNING.format("1.2 K", "0", "1.2 K") + LIGHTNING.format("7.9 K", "0", "7.9 K"),
        "Trainable params: 330\n",
        "trainable params: 294,912 || all params: 109,000,000 || trainable%: 0.27\n",
    ],
)
def test_two_models_or_half_a_summary_are_not_known(tmp_path: Path, text: str) -> None:
    """Nor are adapters, which are few on purpose."""
    (tmp_path / "job.log").write_text(text + STEPS)
    found = la.diagnose(tmp_path / "job.log")

    assert printed_parameters(found.run) is None
    assert found.features.values["config_trainable_share"] is None


def test_the_same_summary_twice_is_one_model(tmp_path: Path) -> None:
    """Programs print it for training and again for the test."""
    (tmp_path / "job.log").write_text(2 * LIGHTNING.format("1.2 K", "3.6 K", "4.8 K") + STEPS)

    assert printed_parameters(la.read_run(tmp_path / "job.log")) == pytest.approx((1200.0, 4800.0))


def test_settings_come_before_the_log(tmp_path: Path) -> None:
    """A config with both numbers is believed."""
    (tmp_path / "job.log").write_text(LIGHTNING.format("1.2 K", "3.6 K", "4.8 K") + STEPS)
    (tmp_path / "config.yaml").write_text("num_parameters: 1000\ntrainable_params: 1000\n")

    assert la.diagnose(tmp_path).features.values["config_trainable_share"] == 1.0
