"""Causes that stand on metrics of unsure roles are limited."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.rule import Item, Rule, SymptomRule
from loganalyst.diagnosis.rulesql import ask
from loganalyst.diagnosis.texttemplate import template
from loganalyst.model import Feature, Witness
from loganalyst.pipeline import diagnose

DECLARED = {name: Feature(name, "bool", "", "", "reward") for name in ("a", "b", "log_root_x")}
ASKS = {name: ask(name, DECLARED) for name in DECLARED}
UNSURE, SURE = Witness("score", role_confidence=0.6), Witness("loss", role_confidence=0.9)
CAP = 0.7  # of rules/verdicts.yaml


def judged(
    direct: tuple[str, ...], witnesses: Mapping[str, Witness], symptom: str = "a", kind: str = "direct"
) -> tuple[float, tuple[str, ...]]:
    """Confidence and limits of a cause whose evidence asks about the features `direct`, all true."""
    text = template("text", {})
    items = tuple(Item(f, kind, f, ASKS[f], 4.0, -1.0, "judged", text) for f in direct)  # type: ignore[arg-type]
    rule = Rule(
        id="r", title="r", label="other", status="stable", since="0", family="f", severity="error", prior=0.1,
        symptoms=("s",), summary="", mechanism="", evidence=items, fix=(), will_not_fix="", tests=(), path=Path(),
    )  # fmt: skip
    catalogue = Catalogue({"r": rule}, {"s": SymptomRule("s", "s", ASKS[symptom], text)}, DECLARED)
    answers = Answers({}, witnesses, {"s": True}, {"r": True}, {"r": (True,) * len(items)})
    found = confidence.judge(catalogue, answers)["r"]
    return found.confidence, found.limits


@pytest.mark.parametrize(
    ("direct", "witnesses", "is_limited"),
    [
        (("a",), {"a": UNSURE}, True),
        (("a",), {"a": SURE}, False),
        (("a",), {}, False),
        (("a", "b"), {"a": UNSURE, "b": SURE}, True),  # the symptom stands on the unsure one alone
        (("b",), {"a": UNSURE, "b": SURE}, True),
        (("b",), {"b": UNSURE}, True),
        (("log_root_x",), {"a": UNSURE}, False),  # a log says it in words
    ],
)
def test_limit(direct: tuple[str, ...], witnesses: dict[str, Witness], is_limited: bool) -> None:
    found, limits = judged(direct, witnesses)

    assert (found == CAP, found > CAP) == (is_limited, not is_limited)
    assert limits == (("nothing confirms the role of score: at most 70 %",) if is_limited else ())


def test_evidence_of_a_sure_metric_and_its_symptom() -> None:
    assert judged(("a", "b"), {"a": UNSURE, "b": SURE}, symptom="b")[1] == ()


def test_circumstantial_evidence_counts_where_nothing_is_direct() -> None:
    assert judged(("b",), {"b": UNSURE}, kind="circumstantial")[0] == CAP


def test_without_a_metric_the_role_is_named() -> None:
    limits = judged(("a",), {"a": Witness(role_confidence=0.6)})[1]

    assert limits == ("nothing confirms the role of the reward: at most 70 %",)


def test_a_reward_without_an_agent(tmp_path: Path) -> None:
    """The report states the limit; with an episode length nothing is limited."""
    rewards = [10 + 5 * (k % 7) / 7 for k in range(400)]
    alone, with_agent = tmp_path / "alone", tmp_path / "agent"
    for folder, more in ((alone, {}), (with_agent, {"episode_length": [200.0 + k % 3 for k in range(400)]})):
        folder.mkdir()
        pl.DataFrame({"step": range(400), "reward": rewards, **more}).write_csv(folder / "metrics.csv")
    doubted, sure = diagnose(alone).causes[0], diagnose(with_agent).causes[0]

    assert (doubted.id, doubted.confidence) == ("reward-stagnation", CAP)
    assert (sure.id, sure.limits) == ("reward-stagnation", ("it says what happened, not why",))
    assert sure.confidence == 0.88
    assert "nothing confirms the role of" in diagnose(alone).to_markdown()
