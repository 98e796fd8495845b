"""Untrusted YAML as plain data."""

import pytest

from loganalyst.sources.config.yamltree import parse
from loganalyst.sources.files.flatten import TooLargeError


def test_documents_are_merged():
    """Scalars get their types; unknown tags are ignored; merged mappings fill in missing keys."""
    data, error = parse("a: 1\nb: !!python/object:os.system x\n---\nbase: &b {p: 1, q: 2}\nc:\n  <<: *b\n  p: 3\n")

    assert error is None
    assert data == {"a": 1, "b": "x", "base": {"p": 1, "q": 2}, "c": {"p": 3, "q": 2}}


def test_a_broken_end_keeps_the_beginning():
    """The data before the error are kept, inside containers too."""
    data, error = parse("a: 1\nb: [1, 2, }\n")

    assert data == {"a": 1, "b": [1, 2]}
    assert error is not None


@pytest.mark.parametrize(
    "content",
    [
        "[" * 50,
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "\n".join(f"k{i}: {{<<: {{a: 1, b: 2, c: 3}}}}" for i in range(40)),
    ],
)
def test_limits(content):
    """Nesting and the number of nodes are bounded."""
    with pytest.raises(TooLargeError):
        parse(content, nodes=100, depth=40)


def test_a_long_number_stays_a_text():
    """Converting it would take quadratic time."""
    assert parse(f"a: {'1' * 41}")[0] == {"a": "1" * 41}
