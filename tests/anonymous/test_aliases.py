"""Replaced names keep common words and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.anonymous import vocabulary
from loganalyst.anonymous.aliases import Names
from tests.anonymous.planted import TEXTS, UNIT, is_ours


@given(TEXTS)
def test_names_are_made_of_known_words(name: str) -> None:
    """Any name keeps only words of the vocabulary, replacements and short numbers."""
    kept = Names().words(name)

    assert all(is_ours(unit, vocabulary.words()) for unit in UNIT.findall(kept))
    assert set(re.findall(r"[\W_]", kept)) <= set("/._-: ")


@given(st.lists(TEXTS, unique=True, max_size=12))
def test_two_metrics_never_get_one_name(metrics: list[str]) -> None:
    """The same name always gets the same replacement."""
    named = Names()
    aliases = [named.metric(metric) for metric in metrics]

    assert len(set(aliases)) == len(metrics)
    assert [named.metric(metric) for metric in metrics] == aliases


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("train/loss", "train/loss"),
        ("val_acc@1", "val_acc_1"),
        ("trainLoss", "trainLoss"),
        ("encoder.layers.12.attention.weight", "encoder.layers.12.attention.weight"),
        ("gpu.0.memory", "gpu.0.memory"),
        ("losses/acme_loss", "losses/anona_loss"),
        ("训练/损失", "训练/损失"),
        ("10.0.0.1/loss", "anona.anonb.anonb.anonc/loss"),
        ("layers.10.20.30.40", "layers.anona.anonb.anonc.anond"),
        ("2024-03-17", "anona-anonb-anonc"),
        ("patient 4711", "anona anonb"),
        ("node17/time", "anona/time"),
        ("a1b2c3d4e5", "anona"),
        ("", ""),
    ],
)
def test_the_replacement_of_a_name(name: str, kept: str) -> None:
    """Words of training stay; names, addresses, dates and long numbers do not."""
    assert Names().words(name) == kept


def test_a_host_of_the_run_is_replaced_in_names() -> None:
    """A host of common words is replaced too, unless it has no other parts."""
    assert Names(["gpu-node-17"]).words("gpu-node-17/loss") == "anona /loss"
    assert Names(["train"]).words("train/loss") == "train/loss"


def test_names_are_numbered_by_kind_and_settings_keep_their_known_end() -> None:
    named = Names()

    assert [named.counted("file", name) for name in ("x", "y", "x")] == ["file1", "file2", "file1"]
    assert named.counted("node", "x") == "node1"
    assert named.key("acme.optimizer.lr") == "anona.optimizer.lr"
    assert named.key("acme.zqsetting") is None
