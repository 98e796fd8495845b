import pytest

from loganalyst.diagnosis.questiontokens import tokens
from loganalyst.errors import RuleError


def test_the_words_and_signs_of_a_question() -> None:
    """Keywords in any case, and numbers and texts as written."""
    found = [tuple(token) for token in tokens("lr_peak >= 1.5e-3 and NOT name = 'it''s'", "rule.yaml:3")]

    assert found == [
        ("name", "lr_peak"), ("sign", ">="), ("number", "1.5e-3"), ("keyword", "AND"), ("keyword", "NOT"),
        ("name", "name"), ("sign", "="), ("text", "'it''s'"),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "instead"), [("a == 1", "equality is written"), ("a / 2", "belongs into")])
def test_what_is_refused_names_what_to_write(text: str, instead: str) -> None:
    with pytest.raises(RuleError, match=instead):
        list(tokens(text, "rule.yaml:3"))
