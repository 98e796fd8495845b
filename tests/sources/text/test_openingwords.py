"""Words by which a line is no set-up line of a program."""

import pytest

from loganalyst.sources.text.openingwords import opening_words, states_fault


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("RuntimeError: no space left", True),
        ("ABORTED by the user", True),
        ("Loading data from disk", False),
        ("", False),
    ],
)
def test_a_fault_is_told_by_its_words_in_any_case(line: str, fault: bool) -> None:
    """Words of the file, in upper or lower case."""
    assert states_fault(line) is fault


def test_words_of_faults_and_warnings_are_in_lower_case() -> None:
    """Lines are searched in lower case, so others would never be found."""
    words = opening_words()

    assert all(word == word.lower() for word in (*words.faults, *words.warnings))
