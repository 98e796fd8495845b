"""Questions that are refused, and how deep they nest."""

import pytest

from loganalyst.diagnosis.questionparser import MAX_DEPTH
from loganalyst.diagnosis.questiontokens import ALLOWED
from loganalyst.diagnosis.rulesql import MAX_LENGTH, ask
from loganalyst.errors import RuleError
from tests.diagnosis.question_features import DECLARED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x / 2 > 1", "found '/'; division belongs into a feature"),
        ("x IS NULL", "found 'IS'"),
        ("x = NULL", "'NULL' is no feature"),
        ("x > NULL OR b", "'NULL' is no feature"),
        ("CASE WHEN b THEN c END", "'CASE' is no feature"),
        ("COALESCE(x, 1) > 1", "'COALESCE' is no feature"),
        ("IFNULL(x, 1) > 1", "'IFNULL' is no feature"),
        ("CAST(i AS TEXT) = '1'", "'CAST' is no feature"),
        ("i::int > 1", "found ':'"),
        ("x <=> 1", "found '<=>'; it turns 'not known' into an answer"),
        ("x IS NOT DISTINCT FROM 1", "found 'IS'"),
        ("x > 1 AS y", "found 'AS'"),
        ("x > 1 y", "found 'y'"),
        ("x > 1 -- y", "found '--'; comments are not allowed"),
        ("x > 1 /* y */", "found '/'"),
        ("x > 1 # y", "found '#'"),
        ("x > 1; b", "found ';'"),
        ("SUM(x) > 1", "'SUM' is no feature"),
        ("MAX(x) > 1", "'MAX' is no feature"),
        ("LENGTH(s) > 1", "'LENGTH' is no feature"),
        ("x > (SELECT 1)", "'SELECT' is no feature"),
        ("x IN (SELECT y)", "found 'SELECT' in a list"),
        ("EXISTS (b)", "'EXISTS' is no feature"),
        ("read_csv('/etc/passwd') > 1", "'read_csv' is no feature"),
        ("1 < x < 3", "a comparison cannot be chained"),
        ("x < y = b", "a comparison cannot be chained"),
        ("(x < y) = b", "a yes/no value is compared"),
        ("x = y = i", "a comparison cannot be chained"),
        ("x BETWEEN 1 AND 2 > 1", "a comparison cannot be chained"),
        ("b = TRUE", "'TRUE' is no feature"),
        ("b > 0", "a yes/no value is compared"),
        ("b = c", "a yes/no value is compared"),
        ("b IN ('a')", "found a text value; a yes/no value is needed"),
        ("x == 1", "found '=='; equality is written ="),
        ("s !~ 'a'", "found '!~'; write NOT"),
        ("s ~* 'a'", "found '~*'"),
        ("s || 'a' = 'b'", "found '||'"),
        ("s ILIKE 'a'", "found 'ILIKE'"),
        ('"x" > 1', "found '\"'"),
        ("x > 0x10", "found '0'"),
        ("x > 1_000", "found '1'"),
        ("x > 1e999", "the number 1e999 is too large"),
        ("x > 'a'", "a number value is compared with a text value"),
        ("s = 1", "a text value is compared with a number value"),
        ("s > 'a'", "text is compared with >"),
        ("s BETWEEN 'a' AND 'b'", "found a text value; a number value is needed"),
        ("x IN ('a')", "found a text value; a number value is needed"),
        ("x IN (y)", "found 'y' in a list"),
        ("x IN ()", "found ')' in a list"),
        ("x IN (1, 2", "found 'the end'; ) is needed"),
        ("s LIKE s", "found 's' after LIKE"),
        ("s ~ s", "found 's' after ~"),
        ("x LIKE 'a'", "found a number value; a text value is needed"),
        ("x ~ '1'", "found a number value; a text value is needed"),
        ("s ~ '('", "unclosed group"),
        ("s ~ '(?=a)'", "look-around"),
        (r"s ~ '(a)\1'", "backreferences"),
        ("s + s = 'aa'", "found a text value; a number value is needed"),
        ("-s = 'a'", "found a text value; a number value is needed"),
        ("ABS(b) > 1", "found a yes/no value; a number value is needed"),
        ("ABS(x > 1)", "found a yes/no value; a number value is needed"),
        ("ABS x > 1", "found 'x'"),
        ("x", "found a number value; a yes/no value is needed"),
        ("x + y", "found a number value; a yes/no value is needed"),
        ("s", "found a text value; a yes/no value is needed"),
        ("b AND 1", "found a number value; a yes/no value is needed"),
        ("b OR x", "found a number value; a yes/no value is needed"),
        ("NOT x", "found a number value; a yes/no value is needed"),
        ("1 < 2", "no feature is asked for"),
        ("'a' = 'a'", "no feature is asked for"),
        ("2 IN (1, 2)", "no feature is asked for"),
        ("", "found 'the end'"),
        ("x >", "found 'the end'"),
        ("(x > 1", "found 'the end'; ) is needed"),
        ("x > 1)", "found ')'"),
        ("x NOT 1", "found NOT before '1'"),
        ("x BETWEEN 1 OR 2", "found 'OR'; AND is needed"),
        ("s = 'a", 'found "\'"'),
        ("x ≥ 1", "found '≥'"),
        ("x > ١", "found '١'"),
        ("x.y > 1", "found '.'"),
        ("spike_step > 10", "start the question with spike_count > 0 AND"),
        ("spike_step > 10 AND spike_count > 0", "start the question with spike_count > 0 AND"),
    ],
)
def test_refused(text: str, found: str) -> None:
    """Anything else is refused, with the part that was found."""
    with pytest.raises(RuleError) as error:
        ask(text, DECLARED, "rule.yaml:7")

    assert found in str(error.value)
    assert str(error.value).startswith("rule.yaml:7: ")


def test_unknown_name_hints_at_the_nearest() -> None:
    """A misspelt feature gives the nearest one, an unknown name gives what is allowed."""
    with pytest.raises(RuleError, match="'train_los' is no feature; did you mean 'train_loss'"):
        ask("train_los > 1", DECLARED)
    with pytest.raises(RuleError) as error:
        ask("qqqqqqqq > 1", DECLARED)

    assert error.value.allowed == ALLOWED


@pytest.mark.parametrize("open_", ["(", "NOT ", "NOT(", "- ", "ABS("])
def test_nesting_and_length_are_bounded(open_: str) -> None:
    """Deep nesting and long questions are refused before polars sees them (its parser is exponential in depth)."""
    inner = "b" if "NOT" in open_ else "x > 1" if open_ != "ABS(" else "x"
    for depth in (MAX_DEPTH + 1, 400):
        with pytest.raises(RuleError, match=r"levels of nesting|at most 1000"):
            ask(open_ * depth + inner + ")" * (depth * open_.count("(")), DECLARED)
    with pytest.raises(RuleError, match="question of 1005 characters"):
        ask(" OR ".join(["b"] * (MAX_LENGTH // 5 + 1)) + "    ", DECLARED)
