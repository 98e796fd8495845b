"""Texts of rules: plain declared names with a number format, nothing else."""

import math

import pytest

from loganalyst.diagnosis.texttemplate import MAX_TEXT, show, template
from loganalyst.errors import RuleError
from loganalyst.model import Feature, FeatureValue

DECLARED = {
    name: Feature(name, dtype, "", "", "")  # type: ignore[arg-type]
    for name, dtype in {"share": "float", "step": "int", "metric": "text", "on": "bool"}.items()
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no placeholder, {{braces}}", "no placeholder, {braces}"),
        ("{share:.0%} of {metric} at {step}", "25 % of a b at 12,345"),
        ("{share} {share:.2g} {share:+.1f} {step:d} {step:.1e} {on}", "0.25 0.25 +0.2 12345 1.2e4 yes"),
    ],
)
def test_values_are_filled_in(text: str, expected: str) -> None:
    """Formats are Python's; the defaults are made for people; text of a log becomes one line."""
    values = {"share": 0.25, "step": 12345, "metric": " a\n\tb ", "on": True}

    assert expected == template(text, DECLARED).render(values)


@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        ("follows a {metric} law", {"metric": "exponential"}, "follows an exponential law"),
        ("follows a {metric} law", {"metric": "power"}, "follows a power law"),
        ("a {share:.0%} rise", {"share": 0.08}, "an 8 % rise"),
        ("a {share:.0%} rise", {"share": 0.18}, "an 18 % rise"),
        ("a {share:.0%} rise", {"share": 1.1}, "a 110 % rise"),
        ("data {metric}", {"metric": "a"}, "data a"),
        ("has {step} spikes", {"step": 1}, "has 1 spike"),
        ("has {step} spikes", {"step": 11}, "has 11 spikes"),
        ("reach only {step} modes", {"step": 1}, "reach only 1 mode"),
    ],
)
def test_articles_and_numbers_agree_with_the_values(text: str, values: dict[str, FeatureValue], shown: str) -> None:
    assert template(text, DECLARED).render(values) == shown


@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        ("above", 3.0, "300 % above"),
        ("above", 7.63, "8.63 times"),
        ("below", -11_053.41, "11,054 times"),
        ("below", 0.4, "40 % below"),
        ("of", 146.75, "147 times"),
        ("of", 0.04, "4.0 % of"),
        ("fell", -7.0, "rose to 8 times its first level"),
        ("fell", -2.7, "rose by 270 %"),
    ],
)
def test_shares_above_300_percent_are_factors(form: str, value: float, shown: str) -> None:
    """A percentage that nobody can read becomes a factor, and a negative fall a rise."""
    assert template(f"{{share:{form}}}", DECLARED).render({"share": value}) == shown


@pytest.mark.parametrize(("value", "shown"), [("2", "rank 2"), ("0-1, 3", "ranks 0-1, 3"), ("0-1", "ranks 0-1")])
def test_ranks_are_one_or_several(value: str, shown: str) -> None:
    """A list of ranks gets its noun."""
    assert template("see {metric:ranks}", DECLARED).render({"metric": value}) == f"see {shown}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{loss}", "placeholder {loss} is no feature"),
        ("{stepp}", "did you mean 'step'?"),
        ("{share.real}", "placeholder {share.real} is no feature"),
        ("{metric[0]}", "placeholder {metric[0]} is no feature"),
        ("{0}", "placeholder {0} is no feature"),
        ("{}", "placeholder {} is no feature"),
        ("{metric!r}", "conversion !r"),
        ("{share:{step}}", "format '{step}' does not fit share"),
        ("{share:99999999}", "format '99999999' does not fit share"),
        ("{share:d}", "format 'd' does not fit share (float)"),
        ("{metric:.2g}", "format '.2g' does not fit metric (text)"),
        ("{step:ranks}", "format 'ranks' does not fit step (int)"),
        ("{on:d}", "format 'd' does not fit on (bool)"),
        ("{share", "not well formed"),
        ("share}", "not well formed"),
    ],
)
def test_refused(text: str, found: str) -> None:
    """Loading refuses everything that could fail or access objects when rendered."""
    with pytest.raises(RuleError) as error:
        template(text, DECLARED, "rule.yaml:3")

    assert found in str(error.value)
    assert str(error.value).startswith("rule.yaml:3: ")


def test_unknown_value_leaves_the_text_out() -> None:
    """A text is never shown with a gap; a text without placeholders is always shown."""
    assert template("{share} at {step}", DECLARED).render({"share": 0.5, "step": None}) is None
    assert template("{share}", DECLARED).render({}) is None
    assert template("plain", DECLARED).render({}) == "plain"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, "inf"),
        (-0.0, "-0"),
        (1e-9, "1e-9"),
        (245e3, "245,000"),
        (1.5e7, "1.5e7"),
        (0, "0"),
        (False, "no"),
        ("x" * 900, "x" * (MAX_TEXT - 1) + "…"),
    ],
)
def test_awkward_values_are_shown(value: FeatureValue, expected: str) -> None:
    """Infinity, zero and long texts."""
    assert expected == show(value)


def test_seconds_are_a_time_span() -> None:
    """Only of features in seconds."""
    declared = {"pause": Feature("pause", "float", "s", "", ""), "share": Feature("share", "float", "share", "", "")}

    assert template("{pause:duration} passed", declared).render({"pause": 231186.0}) == "2 d 16 h passed"
    with pytest.raises(RuleError, match="format 'duration' does not fit share"):
        template("{share:duration}", declared)


def test_a_fall_of_many_times_the_first_level_is_no_percentage() -> None:
    """A loss may begin near 0 and become negative."""
    declared = {"drop": Feature("drop", "float", "share", "", "")}

    assert template("loss {drop:fell}", declared).render({"drop": 600.078}) == "loss fell by 600 times its first level"
    assert template("loss {drop:fell}", declared).render({"drop": 1.4}) == "loss fell by 140 %"


@pytest.mark.parametrize(
    ("share", "said"), [(0.9997, "99.9 %"), (0.996, "99.6 %"), (0.994, "99 %"), (1.0, "100 %"), (-0.9997, "-99.9 %")]
)
def test_a_part_is_not_called_the_whole(share: float, said: str) -> None:
    """A loss that fell by 99.97 % is not 0."""
    assert show(share, ".0%") == said


def test_a_small_size_of_memory_is_told_in_mib() -> None:
    """0.10 GiB reads as nearly none. Only of features in GiB."""
    declared = {"tried": Feature("tried", "float", "GiB", "", ""), "share": Feature("share", "float", "share", "", "")}
    text = template("a request for {tried:size} failed", declared)

    assert text.render({"tried": 100 / 1024}) == "a request for 100 MiB failed"
    assert text.render({"tried": 2.934}) == "a request for 2.93 GiB failed"
    assert text.render({"tried": 64.0}) == "a request for 64 GiB failed"
    assert text.render({"tried": 1_050_585.0}) == "a request for 1,050,585 GiB failed"
    with pytest.raises(RuleError, match="format 'size' does not fit share"):
        template("{share:size}", declared)


@pytest.mark.parametrize(
    ("text", "of_rows"), [("at step {step}", "at row 31"), ("{step} steps", "30 steps"), ("step {share}", "step 0.5")]
)
def test_steps_that_number_rows_are_said_as_rows(text: str, of_rows: str) -> None:
    """Only a step, and only behind that word; rows count from 1."""
    values: dict[str, FeatureValue] = {"step": 30, "share": 0.5}

    assert template(text, DECLARED).render({**values, "run_steps_are_rows": True}) == of_rows
    assert template(text, DECLARED).render({**values, "run_steps_are_rows": False}) == of_rows.replace(
        "row 31", "step 30"
    )
