"""Errors say where, what was found and what is allowed."""

import pickle

import pytest

from loganalyst.errors import LogAnalystError, RuleError, how_to_install, nearest


def test_the_parts_of_a_message() -> None:
    error = LogAnalystError("a.yaml:3", "found 'x'", "a number")

    assert str(error) == "a.yaml:3: found 'x'; a number"
    assert str(LogAnalystError("a.yaml", "is empty")) == "a.yaml: is empty"
    assert (error.where, error.what, error.allowed) == ("a.yaml:3", "found 'x'", "a number")


def test_an_error_goes_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(RuleError("a.yaml", "found", "allowed")))

    assert isinstance(error, RuleError)
    assert str(error) == "a.yaml: found; allowed"


@pytest.mark.parametrize(
    ("what", "allowed", "text"),
    [
        ("found 's3cret'", "a number", "x: is not valid; a number"),
        ("is too large (5 MB)", "", "x: is too large (5 MB)"),
        ("unknown key", "did you mean 's3cret'?", "x: is not valid"),
    ],
)
def test_an_unquoted_error_repeats_nothing_of_the_file(what: str, allowed: str, text: str) -> None:
    assert str(RuleError("x", what, allowed).unquoted()) == text


def test_nearest() -> None:
    assert nearest("lr-to-high", ["lr-too-high", "lr-too-low"]) == "did you mean 'lr-too-high'?"
    assert nearest("zzz", ["lr-too-high"]) == ""


def test_how_to_install_names_no_package_of_an_index() -> None:
    assert "'.[cluster]'" in how_to_install("cluster")
