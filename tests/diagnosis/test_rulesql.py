"""Questions allow only constructs that keep "not known" unknown."""

import math
import operator
import pickle
import re
from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.diagnosis.questionparser import MAX_DEPTH
from loganalyst.diagnosis.rowanswers import holds
from loganalyst.diagnosis.rulesql import MAX_LENGTH, ask, faults, parsed, schema
from loganalyst.errors import RuleError
from tests.diagnosis.question_features import DECLARED


def answers(text: str, **columns: list[object]) -> list[bool | None]:
    """The answer of `text` for each row, which polars and Python give alike; missing columns are not known."""
    length = max(map(len, columns.values()))
    data = {name: columns.get(name, [None] * length) for name in DECLARED}
    table, question = pl.DataFrame(data, schema=schema(DECLARED)), ask(text, DECLARED)
    found = table.select(question.expr).to_series().to_list()
    assert [holds(question.parts, row) for row in table.rows(named=True)] == found
    return found


def test_deepest_and_longest_allowed_are_answered() -> None:
    """Polars can parse everything within the limits."""
    assert answers("ABS(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH + " > 1", x=[-2.0]) == [True]
    assert answers("NOT (" * 6 + "b" + ")" * 6, b=[True]) == [True]
    assert answers(" AND ".join(["b"] * (MAX_LENGTH // 6)), b=[None]) == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 1", [False, True, None, True]),
        ("X > 1 OR x <= 1", "refused"),
        ("x between 1 and 2", [True, True, None, False]),
        ("x NOT BETWEEN 1 AND 2", [False, False, None, True]),
        ("x IN (1, -2, 2.0)", [True, True, None, False]),
        ("x not in (1)", [False, True, None, True]),
        ("s LIKE 'a%' AND NOT s LIKE '%b'", [True, False, None, False]),
        ("s ~ '^a.?$'", [True, True, None, False]),
        ("s <> 'it''s'", [True, True, None, False]),
        ("2 * x - 1 > 2", [False, True, None, True]),
        ("-x < -1.5", [False, True, None, True]),
        ("ABS(x - 2) <= 1", [True, True, None, False]),
        ("x > 1 OR i = 0", [True, True, None, True]),
        ("b", [True, False, None, True]),
        ("NOT b OR c", [False, True, None, True]),
        ("spike_count > 0 AND spike_step > 10", [False, True, None, None]),
    ],
)
def test_answers(text: str, expected: list[bool | None] | str) -> None:
    """Allowed questions answer as SQL does: unknown stays unknown unless the other parts settle it."""
    rows: dict[str, list[object]] = {
        "x": [1.0, 2.0, None, math.inf],
        "i": [0, 3, None, 4],
        "s": ["a", "ab", None, "it's"],
        "b": [True, False, None, True],
        "c": [False, None, None, True],
        "spike_count": [0, 2, None, 1],
        "spike_step": [None, 20, None, None],
    }
    if expected == "refused":
        with pytest.raises(RuleError):
            ask(text, DECLARED)
    else:
        assert expected == answers(text, **rows)


def test_features_are_those_named_in_order() -> None:
    """An ask knows the features it names, each once, and survives a trip between processes."""
    question = ask("x > 1 AND (i = 2 OR y < x)", DECLARED)

    assert question.features == ("x", "i", "y")
    assert question == pickle.loads(pickle.dumps(question))


def test_no_arithmetic_makes_up_an_answer() -> None:
    """Inf - Inf and 0 * Inf are not known; whole numbers do not overflow."""
    assert answers("x - x >= 0", x=[math.inf, None]) == [None, None]
    assert answers("0 * x < 1", x=[-math.inf]) == [None]
    assert answers("NOT ABS(x - y) > 1", x=[math.inf], y=[math.inf]) == [None]
    assert answers("i * i > 0", i=[2**62]) == [True]


Row = dict[str, object]
Ternary = bool | None
Value = Callable[[Row], object]
Part = tuple[str, Value]
NUMBERS = st.sampled_from([-2.5, -1.0, 0.0, 0.5, 1.0, 3.0, 1e6])
COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPUTE = {"+": operator.add, "-": operator.sub, "*": operator.mul}
PATTERN_CHARS = "ab%_.(\\\n'"


def known(f: Callable[..., object], *parts: Value) -> Value:
    """`f` of the parts, not known where one of them is not or the result is NaN."""

    def value(row: Row) -> object:
        args = [part(row) for part in parts]
        result = None if any(a is None for a in args) else f(*args)
        return None if isinstance(result, float) and math.isnan(result) else result

    return value


def both(a: Ternary, b: Ternary) -> Ternary:
    """Kleene's strong AND."""
    return False if a is False or b is False else None if a is None or b is None else True


def negated(a: Ternary) -> Ternary:
    return None if a is None else not a


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def like(pattern: str) -> re.Pattern[str]:
    return re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern), re.DOTALL)


def atoms() -> st.SearchStrategy[Part]:
    names = st.sampled_from(["x", "y", "i"]).map(lambda n: (n, lambda row: row[n]))
    return names | NUMBERS.map(lambda v: (repr(v), lambda row: v))


def terms() -> st.SearchStrategy[Part]:
    def grow(part: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
        two = st.tuples(part, st.sampled_from("+-*"), part).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", known(COMPUTE[t[1]], t[0][1], t[2][1]))
        )
        return (
            two
            | part.map(lambda p: (f"ABS({p[0]})", known(abs, p[1])))
            | part.map(lambda p: (f"-({p[0]})", known(operator.neg, p[1])))
        )

    return st.recursive(atoms(), grow, max_leaves=3)


def comparisons() -> st.SearchStrategy[Part]:
    pattern = st.text(PATTERN_CHARS, max_size=4)
    text = st.text("ab'", max_size=2)
    column: Value = lambda row: row["s"]  # noqa: E731
    return st.one_of(
        st.tuples(terms(), st.sampled_from(sorted(COMPARE)), terms()).map(
            lambda t: (f"{t[0][0]} {t[1]} {t[2][0]}", known(COMPARE[t[1]], t[0][1], t[2][1]))
        ),
        st.tuples(terms(), terms(), terms()).map(
            lambda t: (
                f"{t[0][0]} BETWEEN {t[1][0]} AND {t[2][0]}",
                lambda row: both(
                    known(operator.ge, t[0][1], t[1][1])(row),  # type: ignore[arg-type]
                    known(operator.le, t[0][1], t[2][1])(row),  # type: ignore[arg-type]
                ),
            )
        ),
        st.tuples(terms(), st.lists(NUMBERS, min_size=1, max_size=3)).map(
            lambda t: (f"{t[0][0]} IN ({', '.join(map(repr, t[1]))})", known(lambda v: v in t[1], t[0][1]))
        ),
        pattern.map(lambda p: (f"s LIKE {quoted(p)}", known(lambda v: like(p).fullmatch(v) is not None, column))),
        text.map(lambda p: (f"s ~ {quoted(p)}", known(lambda v: p in v, column))),
        text.map(lambda p: (f"s <> {quoted(p)}", known(lambda v: v != p, column))),
        st.sampled_from("bc").map(lambda n: (n, lambda row: row[n])),
    )


def questions() -> st.SearchStrategy[Part]:
    def grow(part: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
        pair = st.tuples(part, part)
        return st.one_of(
            pair.map(lambda t: (f"({t[0][0]} AND {t[1][0]})", lambda row: both(t[0][1](row), t[1][1](row)))),  # type: ignore[arg-type]
            pair.map(
                lambda t: (
                    f"({t[0][0]} OR {t[1][0]})",
                    lambda row: negated(both(negated(t[0][1](row)), negated(t[1][1](row)))),  # type: ignore[arg-type]
                )
            ),
            part.map(lambda p: (f"NOT ({p[0]})", lambda row: negated(p[1](row)))),  # type: ignore[arg-type]
        )

    return st.recursive(comparisons(), grow, max_leaves=5)


def rows() -> st.SearchStrategy[list[Row]]:
    number = st.none() | NUMBERS | st.sampled_from([math.inf, -math.inf])
    row = st.fixed_dictionaries(
        {
            "x": number,
            "y": number,
            "i": st.none() | st.integers(-3, 3),
            "s": st.none() | st.text(PATTERN_CHARS, max_size=3),
            "b": st.none() | st.booleans(),
            "c": st.none() | st.booleans(),
        }
    )
    return st.lists(row, min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(questions(), rows())
def test_logic_is_kleenes(question: Part, table: list[Row]) -> None:
    """Any question over any rows answers as strong three-valued logic in plain Python does."""
    text, oracle = question
    if not re.search(r"\b[xyisbc]\b", re.sub(r"'[^']*'", "", text)):
        return  # asks for no feature

    found = answers(text, **{name: [row[name] for row in table] for name in table[0]})

    assert [oracle(row) for row in table] == found


def test_one_refused_question_among_many() -> None:
    """Polars looks at all at once; the one that it refuses is named by its place, even if its text occurs twice."""
    sound = parsed("x > 1", DECLARED, "a.yaml:1")
    wrong = [parsed("s ~ '('", DECLARED, f"b.yaml:{line}") for line in (2, 3)]

    assert faults([sound], DECLARED) == {}
    refused = faults([sound, *wrong], DECLARED)
    assert list(refused) == ["b.yaml:2", "b.yaml:3"]
    assert "not valid (error: unclosed group)" in str(refused["b.yaml:3"])
