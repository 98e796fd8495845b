"""The kind of training: what the trainer states, else what metrics and settings suggest."""

from pathlib import Path

import pytest

from loganalyst.curves.trainers import recognised
from loganalyst.curves.trainingkind import training_kind
from loganalyst.model import Run, Source, table


def run(*metrics: str, files: tuple[str, ...] = ("m.csv",), path: str = "", **settings: str) -> Run:
    return Run(
        path=Path(path),
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
    assert 0.5 < found.probability <= 0.95


@pytest.mark.parametrize(
    ("logged", "roles", "kind", "probability"),
    [
        (run("loss", "diffusion"), ("train_loss",), "diffusion", 0.75),  # one witness never makes a kind sure
        (run("d_loss", "g_loss"), ("discriminator_loss", "generator_loss"), "adversarial", 0.95),
        (run("loss", path="gan/run1"), ("train_loss",), "adversarial", 0.75),
        (run("loss", path="smilesVAE/run1"), ("train_loss",), "autoencoder", 0.75),
    ],
)
def test_the_probability_grows_with_the_witnesses(logged, roles, kind, probability):
    found = training_kind(logged, roles, None)

    assert found is not None
    assert (found.kind, found.probability) == (kind, pytest.approx(probability, abs=0.005))


def test_rival_witnesses_lower_the_probability():
    """Boxes speak for detection, an actor for reinforcement learning: neither is sure."""
    both = training_kind(run("bbox", "dqn", "episode", algorithm="dqn"), ("train_loss",), None)
    alone = training_kind(run("bbox", "rpn"), ("train_loss",), None)

    assert both is not None
    assert alone is not None
    assert both.kind == "reinforcement"
    assert both.probability < 0.8 < alone.probability


@pytest.mark.parametrize(
    "value",
    [
        '{"model": "x", "task": "graph", "model_type": "gcn", "hidden_size": 320, "dropout": 0.1}',
        "\ttrainer: x\n\tmodel:\tgcn\n\tdata:\tgraph\n\thidden_size:\t320\n\tdropout:\t0.1",
    ],
)
def test_a_long_value_holds_settings(value):
    """The logger of a framework stores its whole configuration as one text."""
    assert len(value) > 60
    found = training_kind(run("loss", args=value), ("train_loss",), None)

    assert found is not None
    assert (found.kind, set(found.witnesses)) == ("graph", {"gcn", "graph"})


def test_a_framework_is_a_weak_witness():
    """Users of the Hugging Face Trainer fine-tune more often than they do anything else."""
    logged = run("train_loss", "train_runtime", "grad_norm", "total_flos", files=("trainer_state.json",))
    found = training_kind(logged, ("train_loss",), recognised(logged))

    assert found is not None
    assert (found.kind, found.witnesses) == ("fine-tuning", ("Hugging Face Trainer",))
    assert found.probability < 0.8


def test_nothing_suggests_a_kind():
    """A loss alone is logged by every kind of training."""
    assert training_kind(run("loss"), ("train_loss",), None) is None


def test_the_trainer_states_the_kind():
    logged = run("reward", "reward_std", "frac_reward_zero_std", "completions/clipped_ratio")
    found = training_kind(logged, ("reward",), recognised(logged))

    assert found is not None
    assert (found.kind, found.probability, found.witnesses) == (
        "verifiable-rewards",
        0.95,
        ("TRL GRPOTrainer or RLOOTrainer",),
    )


def test_a_trainer_of_every_kind_leaves_it_open():
    """The Hugging Face Trainer trains all kinds: the other witnesses decide."""
    logged = run("loss", "eval_wer", files=("trainer_state.json",))
    found = training_kind(logged, ("train_loss", "val_error_rate"), recognised(logged))

    assert found is not None
    assert found.kind == "speech"
