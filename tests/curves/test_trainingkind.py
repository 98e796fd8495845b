"""The kind of training: what the trainer states, else what metrics and settings suggest."""

import pytest

from loganalyst.curves.trainers import recognised
from loganalyst.curves.trainingkind import training_kind
from loganalyst.model import Run, Source, table


def run(*metrics: str, files: tuple[str, ...] = ("m.csv",), **settings: str) -> Run:
    return Run(
        points=table("points", {"session": 0, "metric": list(metrics), "step": 0, "value": 1.0, "source": "m.csv"}),
        config=table("config", {"key": list(settings), "value": list(settings.values())}),
        sources=tuple(Source(file, "csv", 1) for file in files),
    )


@pytest.mark.parametrize(
    ("logged", "roles", "kind"),
    [
        (run("d_loss", "g_loss"), ("discriminator_loss", "generator_loss"), "adversarial"),
        (run("loss", "box_loss", "map50"), ("train_loss",), "detection"),
        (run("loss", "acc", num_classes="10"), ("train_loss", "train_accuracy"), "supervised"),
        (run("loss", dataset="tinystories", block_size="256"), ("train_loss",), "pretraining"),
        (run("loss", model="gat", num_node_features="7"), ("train_loss",), "graph"),
    ],
)
def test_witnesses_name_the_kind(logged, roles, kind):
    found = training_kind(logged, roles, None)

    assert found is not None
    assert found.kind == kind
    assert 0.5 < found.probability < 0.95


def test_nothing_suggests_a_kind():
    """A loss alone is logged by every kind of training."""
    assert training_kind(run("loss"), ("train_loss",), None) is None


def test_the_trainer_states_the_kind():
    logged = run("reward", "reward_std", "frac_reward_zero_std", "completions/clipped_ratio")
    found = training_kind(logged, ("reward",), recognised(logged))

    assert found == ("verifiable-rewards", 0.95, ("TRL GRPOTrainer",))


def test_a_trainer_of_every_kind_leaves_it_open():
    """The Hugging Face Trainer trains all kinds: the other witnesses decide."""
    logged = run("loss", "eval_wer", files=("trainer_state.json",))
    found = training_kind(logged, ("train_loss", "val_error_rate"), recognised(logged))

    assert found is not None
    assert found.kind == "speech"
