"""Python answers the questions of our rules about one run as polars does about many. Any question: test_rulesql.py."""

import pytest

from loganalyst.diagnosis.evidence import FEW, answer, feature_table, put
from loganalyst.diagnosis.rowanswers import holds
from loganalyst.rulecatalogue import catalogue


def test_every_question_about_every_tested_run() -> None:
    """Of the runs of all rules' tests those that know a feature of the question; most are answered with yes and no."""
    known = catalogue()
    runs = [test.features for rule in known.rules.values() for test in rule.tests if test.features is not None]
    table = feature_table(known, runs)
    rows, polars = table.rows(named=True), put(known, known.questions, table).to_dict(as_series=False)
    about = {name: {i for i, value in enumerate(table[name]) if value is not None} for name in table.columns}

    wrong, answered = [], 0
    for ask in known.questions:
        asked = set().union(*(about.get(name, ()) for name in ask.features))
        answers = {i: holds(ask.parts, rows[i]) for i in asked}
        answered += {True, False} <= set(answers.values())
        wrong += [ask.text for i, answer in answers.items() if answer is not polars[ask.text][i]]

    assert wrong == []
    assert answered > len(known.questions) * 0.6


def test_few_runs_and_many_have_the_same_answers() -> None:
    """One by one, or all at once by polars."""
    known = catalogue()
    runs = [test.features or {} for test in known.rules["lr-too-high"].tests] * FEW
    many, few = (answer(known, feature_table(known, some), [{}] * len(some)) for some in (runs, runs[: FEW // 2]))

    assert len(runs) > FEW
    assert many[: FEW // 2] == few


@pytest.mark.parametrize(
    ("pattern", "alike", "unlike"),
    [
        ("%a%ab", ["aab", "xaxab", "abab"], ["ab", "aba"]),
        ("_%_", ["ab", "a\nb"], ["", "a"]),
        ("a%%b", ["ab", "axb"], ["a", "abc"]),
        ("a.", ["a."], ["ab", "a.b"]),
        ("%", ["", "x"], []),
    ],
)
def test_like(pattern: str, alike: list[str], unlike: list[str]) -> None:
    """The pieces between `%` may not overlap: `%a%ab` needs `a` two times."""
    asked = {text: holds(["LIKE", ["feature", "name"], pattern], {"name": text}) for text in (*alike, *unlike)}

    assert asked == dict.fromkeys(alike, True) | dict.fromkeys(unlike, False)
