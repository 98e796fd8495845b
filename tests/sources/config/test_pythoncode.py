"""Expressions in texts."""

import warnings
from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.config import reader as config
from loganalyst.sources.config.pythoncode import expression, keywords, value
from loganalyst.sources.text import reader as text


@pytest.mark.parametrize("said", [r"'C:\d'", "1if 2else 3", "[1(2)]", "0x1for x in y"])
def test_a_damaged_one_warns_nobody(said: str) -> None:
    """Python's parser warns of what it takes all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expression(said)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("'a'", "a"), (" (1, [2.5])", (1, [2.5])), ("f(1)", None), ("'a", None), ("", None), ("(" * 500, None),
     ("{[]: 1}", None), ("a\0", None)],
)  # fmt: skip
def test_values(said: str, meant: object) -> None:
    """Plain values only; nothing is called and nothing raises."""
    assert value(said) == meant


def test_keywords() -> None:
    """Texts are bare, the rest is as written; what stands behind the call does not matter."""
    assert keywords("Namespace(a='x y', b=[1, 2], **c) and more") == [("a", "x y"), ("b", "[1, 2]")]
    assert keywords("Namespace(a=1, b=") is None
    assert keywords("(1)") == []


def test_damaged_settings_are_read_in_silence(tmp_path: Path) -> None:
    """In a file of settings and in a log."""
    said = r"Namespace(data='C:\data', lr=0.1)"
    for reader, name in ((config, "args.txt"), (text, "a.log")):
        (tmp_path / name).write_text(said + "\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = Tables.concat(reader.read(tmp_path / name)).config
        assert dict(found.select("key", "value").iter_rows()) == {"data": r"C:\data", "lr": "0.1"}, name
