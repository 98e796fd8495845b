"""Symptoms that a user reports: understood, compared with the logs, and a moderate help in ranking."""

import math

import pytest

from loganalyst import pipeline
from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, answer, feature_table
from loganalyst.diagnosis.judgement import diagnose
from loganalyst.diagnosis.logodds import logit, sigmoid
from loganalyst.diagnosis.reportedsymptoms import answered, meant, steering, understood
from loganalyst.diagnosis.rule import SymptomRule
from loganalyst.diagnosis.rulesql import ask
from loganalyst.diagnosis.symptomwords import Numbers, numbers
from loganalyst.diagnosis.texttemplate import template
from loganalyst.model import Feature, Features, Told, Witness

NAMES = {
    "nan_count": "int",
    "nan_step": "int",
    "divergence_count": "int",
    "spike_count": "int",
    "spike_step": "int",
    "gradient_ratio": "float",
    "train_loss_period": "float",
    "epoch_steps": "float",
}
DECLARED = {n: Feature(n, t, "", "", "grad_norm" if "grad" in n else "train_loss") for n, t in NAMES.items()}  # type: ignore[arg-type]


def rule(id_: str, title: str, feature: str, told: tuple[str, ...] = (), at: str | None = None) -> SymptomRule:
    return SymptomRule(id_, title, ask(f"{feature} > 0", DECLARED), template(title, DECLARED), at=at, told=told)


KNOWN = {
    r.id: r
    for r in (
        rule("nan-loss", "Loss is NaN or infinite", "nan_count", at="nan_step"),
        rule("divergence", "Loss left its trend and did not return", "divergence_count", ("blows up",)),
        rule("loss-spikes", "Loss has spikes", "spike_count", ("spikes", "spikes every"), "spike_step"),
        rule(
            "exploding-gradients",
            "Gradients grow far beyond their usual size",
            "gradient_ratio",
            ("gradient blows up",),
        ),
        rule("plateau", "Loss stopped falling", "divergence_count", ("not better",)),
    )
}
CATALOGUE = Catalogue({}, KNOWN, DECLARED)


def answers(values: dict[str, float], witnesses: dict[str, Witness] | None = None) -> Answers:
    return answer(CATALOGUE, feature_table(CATALOGUE, [values]), [witnesses or {}])[0]


def one(text: str, values: dict[str, float]) -> Told:
    """The answer to one text; features that are not given are not known."""
    (row,) = answered(understood([text], KNOWN), CATALOGUE, answers(values))
    return row


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("nan-loss", ["nan-loss"]),
        ("the loss went NaN", ["nan-loss"]),
        ("the loss left its trend", ["divergence"]),
        ("loss spiked twice", ["loss-spikes"]),
        ("the 7th epoch blew up", ["divergence"]),
        ("blowing up gradients", ["exploding-gradients"]),
        ("it stopped improving", ["plateau"]),
        ("it doesn't improve", ["plateau"]),
        ("loss", []),
        ("something is odd", []),
        ("", []),
    ],
)
def test_a_text_is_understood_by_its_distinguishing_words(text: str, ids: list[str]) -> None:
    """Ids, phrases and inflected words find their symptom, the longest phrase first; common words find none."""
    assert meant(text, KNOWN) == ids


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("loss spikes every ~1000 steps", Numbers(period=1000.0)),
        ("spikes every about 2.5k iterations", Numbers(period=2500.0)),
        ("it jumps every epoch", Numbers(period_epochs=1.0)),
        ("every 2 epochs", Numbers(period_epochs=2.0)),
        ("diverges at epoch 7", Numbers(epoch=7.0)),
        ("bad from the 7th epoch on", Numbers(epoch=7.0)),
        ("NaN after 12,000 steps", Numbers(step=12000.0)),
        ("at step 5k, then again at step 9k", Numbers(step=5000.0)),
        ("a batch of 64 and a rate of 3e-4", Numbers()),
        ("loss is 2.5", Numbers()),
    ],
)
def test_steps_epochs_and_distances_are_read(text: str, told: Numbers) -> None:
    """Places and periods in their usual notations; other numbers are ignored."""
    assert numbers(text) == told


def test_a_symptom_that_was_seen_is_confirmed() -> None:
    """The answer quotes the logs, with the values that it was judged by."""
    told = one("loss became nan", {"nan_count": 3, "nan_step": 70})

    assert (told.verdict, told.seen) == ("confirmed", True)
    assert told.answer == "the logs show it: Loss is NaN or infinite"
    assert told.symptoms == ("nan-loss",)
    assert told.evidence == (
        {"feature": "nan_count", "value": 3, "metric": None, "step": None, "file": None, "line": None},
    )


def test_a_contradiction_differs_from_a_missing_log() -> None:
    """The logs contradict a symptom only if its features are known; otherwise the report names what to log."""
    denied, unseen = one("gradients blow up", {"gradient_ratio": 0.0}), one("gradients blow up", {})

    assert (denied.verdict, denied.seen) == ("contradicted", False)
    assert (unseen.verdict, unseen.seen) == ("not_visible", None)
    assert unseen.answer.endswith("needs grad_norm")


def test_an_unknown_text_is_not_understood() -> None:
    """The answer names phrases that are understood, one for each symptom that has some."""
    told = one("my cat is ill", {"nan_count": 1})

    assert (told.verdict, told.seen, told.evidence) == ("not_understood", None, ())
    assert told.answer == "not understood; say it as “blows up”, “spikes”, “gradient blows up”, “not better” …"


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("NaN at step 1000", {"nan_count": 1, "nan_step": 1100}, "about where you said"),
        ("NaN at step 1000", {"nan_count": 1, "nan_step": 1300}, "at step 1,300, not 1,000 as you said"),
        ("NaN at epoch 7", {"nan_count": 1, "nan_step": 710, "epoch_steps": 100.0}, "about where you said"),
        ("NaN at epoch 7", {"nan_count": 1, "nan_step": 20}, "the logs do not say which step epoch 7 is"),
        ("spikes every 1000 steps", {"spike_count": 9, "train_loss_period": 1024.0}, "every 1,024 steps, as you said"),
        (
            "spikes every 1000 steps",
            {"spike_count": 9, "train_loss_period": 250.0},
            "every 250 steps, not every 1,000 as you said",
        ),
        (
            "spikes every 2 epochs",
            {"spike_count": 9, "train_loss_period": 200.0, "epoch_steps": 100.0},
            "every 200 steps, as you said",
        ),
        ("spikes every 1000 steps", {"spike_count": 9}, "at no regular distance"),
    ],
)  # fmt: skip
def test_reported_numbers_are_compared_with_the_logs(text: str, values: dict[str, float], said: str) -> None:
    """A place or distance from memory is right within a fifth; otherwise both numbers are named."""
    assert one(text, values).answer.endswith(f"; {said}")


@pytest.mark.parametrize(("texts", "seen"), [(["stalls"], True), ([], False)])
def test_a_reported_symptom_may_be_asked_otherwise(texts: list[str], seen: bool) -> None:
    """A pause alone is no fault; for a user who reports it, it is (`if_reported`)."""
    values = {"stall_count": 1, "stall_s": 3600.0, "stall_ratio": 360.0, "stall_share": 0.4, "end_by_time_limit": False}
    found = diagnose(pipeline.catalogue(), Features(values), texts)

    assert ("stalled" in {symptom.id for symptom in found.symptoms}) is seen
    assert [told.verdict for told in found.told] == ["confirmed"] * len(texts)


def test_contradicted_symptoms_do_not_steer() -> None:
    """A symptom that was looked for and not seen raises no cause."""
    told = understood(["loss is NaN", "gradients blow up", "spikes"], KNOWN)

    assert steering(told, answers({"nan_count": 0, "spike_count": 2})) == {"exploding-gradients", "loss-spikes"}


DIVERGED = {
    "train_loss_points": 400, "train_loss_metric": "loss", "train_loss_divergence_count": 1,
    "train_loss_divergence_step": 200, "train_loss_rise_ratio": 3.0, "train_loss_nonfinite_count": 0,
}  # fmt: skip


def test_a_reported_symptom_doubles_the_odds_of_its_causes() -> None:
    """The odds of a cause by itself are twice as large, and at most the cap without direct evidence."""
    known = pipeline.catalogue()
    given = answer(known, feature_table(known, [DIVERGED]), [{}])[0]
    alone = {id_: j.alone for id_, j in confidence.judge(known, given).items()}
    steered = {id_: j.alone for id_, j in confidence.judge(known, given, {"divergence"}).items()}
    moved = {id_ for id_ in alone if steered[id_] != alone[id_]}

    assert moved
    assert moved <= {id_ for id_, r in known.rules.items() if "divergence" in r.symptoms}
    for id_ in moved:
        doubled = sigmoid(logit(alone[id_]) + math.log(2))
        assert steered[id_] == pytest.approx(min(doubled, 0.9)) or steered[id_] == pytest.approx(doubled)


def test_a_report_invents_nothing() -> None:
    """A healthy run stays healthy: a cause needs a symptom in the logs."""
    known = pipeline.catalogue()
    fine = Features({
        "run_kind": "training", "train_loss_points": 400, "train_loss_metric": "loss", "train_loss_divergence_count": 0,
        "train_loss_nonfinite_count": 0, "train_loss_spike_count": 0, "train_loss_drop_relative": 0.9,
        "train_loss_rise_ratio": 1.0, "train_loss_half_drop_relative": 0.1,
    })  # fmt: skip
    told = diagnose(known, fine, ["it diverges", "NaN", "gradients explode", "the job hangs"])

    assert told.status == "healthy"
    assert told.causes == ()
    assert [t.verdict for t in told.told] == ["contradicted", "contradicted", "not_visible", "not_visible"]


def test_every_phrase_means_its_symptom() -> None:
    """No phrase of our symptoms is taken for another one alone."""
    known = pipeline.catalogue().symptoms
    wrong = {(phrase, id_) for id_, r in known.items() for phrase in r.told if id_ not in meant(phrase, known)}

    assert wrong == set()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("NaN loss after 500 steps", ["nan-loss"]),
        ("loss plateaus at 0.45 and won't decrease", ["plateau", "stuck-loss"]),
        ("exploding gradients in the policy network", ["exploding-gradients"]),
        ("mode collapse — all outputs are identical", ["representations-alike", "text-repeats", "samples-alike"]),
        ("reward not increasing after 1M steps", ["reward-flat"]),
        ("loss spikes every ~1000 steps", ["loss-spikes", "periodic-spikes"]),
        ("Why is my loss diverging?", ["divergence"]),
        ("Model outputs are all the same token", ["text-repeats"]),
        ("failed at epoch 7", ["failed", "ended-badly"]),
        ("Mode collapse to single token", ["text-repeats", "samples-alike", "discriminator-wins"]),
        ("Why are gradients exploding/vanishing?", ["exploding-gradients", "vanishing-gradients"]),
        ("Model not learning anything", ["stuck-loss", "nothing-improved"]),
        ("Model only outputs colons (::::) regardless of input", ["text-repeats"]),
        ("the loss is 0", ["loss-zero"]),
        ("the loss oscillates", ["swings-wildly"]),
        ("the policy collapsed", ["reward-lost", "entropy-gone"]),
        ("it always predicts one class", ["score-at-chance", "class-left-behind"]),
        ("training stopped at epoch 7", []),
        ("debug my training run", []),
        ("hyperparameter tuning produces inconsistent results", []),
    ],
)
def test_what_people_say_is_understood(text: str, ids: list[str]) -> None:
    """A text that shares a word or a place with a title alone means nothing."""
    assert meant(text, pipeline.catalogue().symptoms) == ids
