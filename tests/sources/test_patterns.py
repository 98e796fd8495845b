from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.errors import RuleError
from loganalyst.sources import patterns

CATALOGUE = patterns.catalogue()
BY_ID = {p.id: p for p in CATALOGUE}
EXAMPLES = [text for p in CATALOGUE for text in (*p.match, *p.no_match)]

ONE = """family: own
patterns:
  - id: own-fault
    label: code_exception
    part: root
    literals: ["fault"]
    regex: 'own (?P<kind>\\w+) fault'
    tests:
      match: ["own big fault"]
      no_match: ["no fault"]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "own.yaml").write_text(text)
    return folder


@pytest.mark.parametrize("pattern", CATALOGUE, ids=lambda p: p.id)
def test_own_examples(pattern: patterns.Pattern) -> None:
    """A pattern matches all of its `match` examples and none of its `no_match` ones."""
    assert [pattern.id] * len(pattern.match) == patterns.match(pl.Series(pattern.match), [pattern])["pattern"].to_list()
    assert patterns.match(pl.Series(pattern.no_match), [pattern]).height == 0


@pytest.mark.parametrize("pattern", CATALOGUE, ids=lambda p: p.id)
def test_examples_in_the_whole_catalogue(pattern: patterns.Pattern) -> None:
    """Among all patterns, an example is claimed by its own or by one with the same label."""
    claimed = patterns.match(pl.Series(pattern.match), CATALOGUE)["pattern"].to_list()

    assert [pattern.label] * len(pattern.match) == [BY_ID[c].label for c in claimed]


def test_every_pattern_has_both_kinds_of_examples() -> None:
    """No pattern goes without a case that must match and one that must not."""
    assert [p.id for p in CATALOGUE if not p.match or not p.no_match] == []


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(EXAMPLES) | st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=40))
)
def test_hyperscan_and_polars_agree(lines: list[str]) -> None:
    """The fast first look finds the same lines with hyperscan as with polars alone."""
    data = "\n".join(lines).encode()
    ends = np.array([len("\n".join(lines[: i + 1]).encode()) for i in range(len(lines))])
    literals = patterns._literals(CATALOGUE)
    if patterns._scanners(tuple(literals)) is None:
        pytest.skip("hyperscan is not installed")
    found, searched = patterns.candidates(data, ends, CATALOGUE), patterns._searched(data, literals)

    assert set(zip(*searched, strict=True)) == set(zip(*found, strict=True))


def test_works_without_hyperscan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hyperscan is missing every line is claimed by the same pattern."""
    text = pl.Series(EXAMPLES)
    fast = patterns.match(text, CATALOGUE)
    monkeypatch.setattr(patterns, "_scanners", lambda _literals: None)

    assert fast.equals(patterns.match(text, CATALOGUE))


def test_captures_are_a_json_object() -> None:
    """Named groups come as text; one that took no part is null."""
    hits = patterns.match(pl.Series(["CUDA out of memory. Tried to allocate 2.50 GiB"]), CATALOGUE)
    captures = hits["captures"].str.json_decode(pl.Struct({"tried": pl.String, "unit": pl.String, "gpu": pl.String}))

    assert captures[0] == {"tried": "2.50", "unit": "GiB", "gpu": None}


def test_a_specific_pattern_goes_before_a_generic_one() -> None:
    """A line that hardware, CUDA and the general exception could claim belongs to the hardware."""
    hits = patterns.match(pl.Series(["RuntimeError: CUDA error: uncorrectable ECC error encountered"]), CATALOGUE)

    assert hits["pattern"].to_list() == ["gpu-ecc"]


def test_own_folder(tmp_path: Path) -> None:
    """A folder with a user's patterns loads like the package's."""
    (own,) = patterns.catalogue(written(tmp_path, ONE))

    assert (own.id, own.label, own.part, own.literals) == ("own-fault", "code_exception", "root", ("fault",))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("own (?P<kind>\\w+) fault", "own (?=big) fault"), r"own\.yaml:7: not a regex: .*look-around"),
        (("own (?P<kind>\\w+) fault", "own (big fault"), r"own\.yaml:7: not a regex: .*unclosed group"),
        (("    regex:", "    regexp:"), r"own\.yaml:7: unknown key 'regexp'; did you mean 'regex'"),
        (("code_exception", "code_exeption"), r"own\.yaml:4: unknown label 'code_exeption'; did you mean 'code_exc"),
        (("part: root", "part: rout"), r"own\.yaml:5: unknown part 'rout'; did you mean 'root'"),
        (('["fault"]', "[]"), r"own\.yaml:6: no literals"),
        (("      no_match:", "      nomatch:"), r"unknown key 'nomatch'; did you mean 'no_match'"),
    ],
)
def test_a_bad_pattern_is_refused(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    """A mistake in a pattern file is named with its place and the nearest allowed word."""
    with pytest.raises(RuleError, match=f"(?s){expected}"):
        patterns.catalogue(written(tmp_path, ONE.replace(*change)))


def test_an_id_stands_once(tmp_path: Path) -> None:
    """Two patterns of one id are refused, naming both places."""
    doubled = ONE + ONE.split("patterns:\n")[1]

    with pytest.raises(RuleError, match=r"own\.yaml:11: pattern 'own-fault' stands twice; first at .*own\.yaml:3"):
        patterns.catalogue(written(tmp_path, doubled))
