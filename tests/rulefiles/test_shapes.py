"""Typed values from YAML, and what a message says of data of another shape."""

import importlib
import math
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
import pytest

from loganalyst.errors import RuleError
from loganalyst.rulefiles import Positive, Shape, Text, Texts, check_names, fitted, load, ours, typed

PACKAGE = Path(__file__).parents[2] / "loganalyst"


class Part(Shape, frozen=True):
    kind: Literal["direct", "circumstantial"]
    weight: Positive
    words: Texts = ()


class Whole(Shape, frozen=True):
    title: Text
    parts: tuple[Part, ...] = ()
    scale: dict[str, Positive] = msgspec.field(default_factory=dict)
    start: Text = msgspec.field(default="", name="from")
    until: date | None = None
    either: tuple[str, ...] | dict[str, Positive] = ()


def written(folder: Path, text: str) -> Path:
    path = folder / "x.yaml"
    path.write_text(text)
    return path


def test_data_that_fit_are_values(tmp_path: Path) -> None:
    """Defaults, renamed keys, dates and unions; null is absent, and a key that looks like a number is a name."""
    text = "title: a\nparts:\n- {kind: direct, weight: 2}\nscale: {7: 1}\nfrom: b\nuntil: 2027-01-31\neither: null\n"

    found = ours(written(tmp_path, text).name, Whole, tmp_path)

    assert found == Whole("a", (Part("direct", 2.0),), {"7": 1.0}, "b", date(2027, 1, 31))
    assert typed(load(tmp_path / "x.yaml"), Part, ("parts", 0)) == Part("direct", 2.0)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("titel: a", "1: unknown key 'titel'; did you mean 'title'?"),
        ("title: a\nqqq: 1", "2: unknown key 'qqq'; allowed are title, parts, scale, from, until, either"),
        ("from: b", "1: missing title; required are title"),
        ("[]", "1: found list; a mapping with title, parts, scale, from, until, either is needed"),
        ("", "1: found NoneType; a mapping with title, parts, scale, from, until, either is needed"),
        ("title: 3", "1: title is 3; a text is needed (in quotes where it looks like something else)"),
        ("title: ' '", "1: title is ' '; a text is needed (in quotes where it looks like something else)"),
        ("title: a\nfrom: 2", "2: from is 2; a text is needed (in quotes where it looks like something else)"),
        ("title: a\nparts: x", "2: parts is a str; a list is needed"),
        ("title: a\nparts:\n- x", "3: found str; a mapping with kind, weight, words is needed"),
        ("title: a\nparts: [{kind: dirct, weight: 1}]", "2: kind is 'dirct'; did you mean 'direct'?"),
        ("title: a\nparts: [{kind: 1, weight: 1}]", "2: kind is 1; allowed are direct, circumstantial"),
        ("title: a\nparts: [{kind: direct, weight: true}]", "2: weight is True; a number above 0"),
        ("title: a\nparts: [{kind: direct, weight: .nan}]", "2: weight is nan; a number above 0"),
        ("title: a\nparts: [{kind: direct, weight: 1, words: []}]", "2: words is empty; a list of texts is needed"),
        ("title: a\nparts: [{kind: direct, weight: 1, words:\n [2]}]", "3: an entry of words is 2; a text is needed"),
        ("title: a\nscale: {b: 1,\n c: -1}", "3: c is -1; a number above 0"),
        ("title: a\nscale: [1]", "2: scale is a list; a mapping is needed"),
        ("title: a\nuntil: soon", "2: until is 'soon'; a date such as 2027-01-31"),
        ("title: a\neither: {b: x}", "2: b is 'x'; a number above 0"),
        ("title: a\neither: [1]", "2: an entry of either is 1; a text is needed"),
    ],
)
def test_a_fault_names_line_finding_and_what_is_allowed(tmp_path: Path, text: str, fault: str) -> None:
    """One message for each kind of fault."""
    path = written(tmp_path, text)

    with pytest.raises(RuleError) as error:
        typed(load(path), Whole)

    assert str(error.value) == f"{path}:{fault}"


def test_all_faults_are_found_and_the_rest_is_kept(tmp_path: Path) -> None:
    """A neutral value replaces each faulty part."""
    text = "title: a\nparts:\n- {kind: x, weight: many}\n- {kind: direct, weight: 2}\nuntil: soon\n"

    found, faults = fitted(load(written(tmp_path, text)), Whole)

    assert [fault.where.rpartition(":")[2] for fault in faults] == ["3", "3", "5"]
    assert (found.title, found.parts[0].kind, found.parts[1]) == ("a", "direct", Part("direct", 2.0))
    assert math.isnan(found.parts[0].weight)
    assert found.until is None


def test_names_are_checked_against_those_known(tmp_path: Path) -> None:
    """The line is that of the entry."""
    file = load(written(tmp_path, "roles:\n- train_loss\n- val_los\n"))

    with pytest.raises(RuleError, match=r"x\.yaml:3: an entry of roles is 'val_los'; did you mean 'val_loss'\?"):
        check_names(file, ("roles",), file.data["roles"], ["train_loss", "val_loss"])


def unions(kind: Any) -> list[Any]:
    """All unions within a type."""
    inner = [union for part in get_args(kind) for union in unions(part)]
    return [kind, *inner] if get_origin(kind) is Union or type(kind).__name__ == "UnionType" else inner


def test_no_shape_has_a_union_that_msgspec_frees_twice() -> None:
    """Msgspec 0.22 crashes where a union of a bounded text and a list is dropped."""
    for file in PACKAGE.rglob("*.py"):
        if "(Shape, frozen=True)" in file.read_text(encoding="utf-8"):
            importlib.import_module(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts))
    shapes = [shape for shape in Shape.__subclasses__() if shape.__module__.startswith("loganalyst.")]
    members = [get_args(u) for s in shapes for f in msgspec.structs.fields(s) for u in unions(f.type)]
    bounded = [m for m in members if any(get_origin(k) is Annotated and get_args(k)[0] is str for k in m)]
    lists = (list, tuple, frozenset)

    assert len(shapes) > 25
    assert [m for m in bounded if any(get_origin(k) in lists for k in m)] == []
