"""Questions are asked of all runs at once and independently; answers get words and a place."""

import math

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.diagnosis import judge
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import answer, evidence, feature_table, symptom
from loganalyst.model import FeatureValue, Symptom, Witness

DIVERGED: dict[str, FeatureValue] = {
    "train_loss_points": 100,
    "train_loss_metric": "train/loss",
    "train_loss_divergence_count": 1,
    "train_loss_divergence_step": 24590,
    "lr_at_divergence_share": 0.93,
    "lr_peak": 0.003,
}


def asked(catalogue: Catalogue, *rows: dict[str, FeatureValue], witnesses: dict[str, Witness] | None = None):  # type: ignore[no-untyped-def]
    """The answers of each row; the same witnesses for all."""
    return answer(catalogue, feature_table(catalogue, rows), [witnesses or {}] * len(rows))


def test_answers_of_each_run(catalogue: Catalogue) -> None:
    """TRUE, FALSE and not known, for symptoms, applicability and items."""
    first, second, third = asked(catalogue, DIVERGED, {}, {"train_loss_points": 3, "train_loss_divergence_count": 0})

    assert first.symptoms == {"divergence": True, "nan-loss": None, "plateau": None}
    assert first.applies == {"converged": True, "fp16-overflow": True, "lr-too-high": True}
    assert first.items["lr-too-high"] == (True, False, None)
    assert set(second.symptoms.values()) == {None}
    assert second.applies["lr-too-high"] is None
    assert second.items["lr-too-high"] == (None, None, None)
    assert third.applies["lr-too-high"] is False
    assert third.items["lr-too-high"] == (False, None, None)


def test_table_may_lack_columns_and_have_others(catalogue: Catalogue) -> None:
    """A missing column is not known, an unknown one is ignored, NaN is not known, whole numbers may be floats."""
    table = pl.DataFrame({"run_id": ["a", "b"], "lr_peak": [math.nan, 1.0], "train_loss_divergence_count": [0.0, None]})
    first, second = answer(catalogue, table, [{}, {}])

    assert first.items["lr-too-high"] == (False, None, None)
    assert second.items["lr-too-high"] == (None, True, None)
    assert first.values["lr_peak"] is None
    assert answer(catalogue, table.head(0), []) == []
    with pytest.raises(ValueError, match="zip"):
        answer(catalogue, table, [{}])


def test_evidence_in_words(catalogue: Catalogue) -> None:
    """What holds comes first, then what is not known (with what it needs), then what does not hold."""
    [answers] = asked(catalogue, DIVERGED, witnesses={"lr_peak": Witness("lr", 7, "config.yaml", 17)})
    rule = catalogue.rules["lr-too-high"]
    first, second, third = evidence(rule, answers, (4.0, 0.0, 0.0), catalogue.declared)

    assert (first.id, first.holds, first.weight) == ("diverged-near-peak-lr", True, 4.0)
    assert first.text == "train/loss left its trend at 24,590, rate at 93 %"
    assert (first.metric, first.step, first.file) == (None, 24590, None)
    assert (second.id, second.holds, second.text) == ("no-clipping", None, "not known: needs config")
    assert (third.id, third.holds, third.text) == ("large-rate", False, "")
    assert (third.metric, third.step, third.file, third.line) == ("lr", 7, "config.yaml", 17)


def test_text_with_an_unknown_value_is_left_out(catalogue: Catalogue) -> None:
    """`otherwise` replaces a text that cannot be filled; without one the item has no text."""
    row = {k: v for k, v in DIVERGED.items() if k != "train_loss_divergence_step"}
    [answers] = asked(catalogue, row)
    first, *_ = evidence(catalogue.rules["lr-too-high"], answers, (4.0, 0.0, 0.0), catalogue.declared)

    assert (first.holds, first.text, first.step) == (True, "the rate was near its peak", None)


def test_says_if_false(catalogue: Catalogue) -> None:
    """An item that does not hold says so in its own words."""
    [answers] = asked(catalogue, DIVERGED | {"lr_at_divergence_share": 0.1, "config_clip": 1.0})
    texts = [e.text for e in evidence(catalogue.rules["lr-too-high"], answers, (0.0, 0.0, 0.0), catalogue.declared)]

    assert texts == ["the rate was far below its peak", "", "clipping at 1 is on"]


def test_symptom_in_words(catalogue: Catalogue) -> None:
    """A symptom has its metric and step from features or witness; its title where the text cannot be filled."""
    rule = catalogue.symptoms["divergence"]
    [full] = asked(catalogue, DIVERGED)
    [bare] = asked(
        catalogue,
        {"train_loss_divergence_count": 1},
        witnesses={"train_loss_divergence_count": Witness("loss", 8)},
    )

    texts = "train/loss left its trend at step 24,590", "Loss left its trend"
    own = rule.origin  # a symptom of the test's own folder
    assert own.endswith("symptoms.yaml")
    assert symptom(rule, full) == Symptom("divergence", texts[1], "train/loss", 24590, texts[0], origin=own)
    assert symptom(rule, bare) == Symptom("divergence", texts[1], "loss", 8, texts[1], origin=own)


def rows(catalogue: Catalogue) -> st.SearchStrategy[list[dict[str, FeatureValue]]]:
    """Rows of any values, most of them not known."""
    of = {
        "float": st.sampled_from([0.0, 0.3, 0.9, 1.0, 1e9, math.inf, -math.inf]),
        "int": st.sampled_from([0, 1, 2, 50, 24590]),
        "bool": st.booleans(),
        "text": st.sampled_from(["", "bf16", "fp16", "{x}", "a\n%"]),
    }
    columns = {name: st.none() | of[feature.dtype] for name, feature in catalogue.declared.items()}
    return st.lists(st.fixed_dictionaries({}, optional=columns), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_runs_in_a_batch_do_not_affect_each_other(catalogue: Catalogue, data: st.DataObject) -> None:
    """A run is judged the same alone, among others, and in any order."""
    batch = data.draw(rows(catalogue))
    alone = [judge(catalogue, feature_table(catalogue, [row]), [{}])[0] for row in batch]
    backwards = judge(catalogue, feature_table(catalogue, batch[::-1]), [{}] * len(batch))

    assert alone == backwards[::-1]
