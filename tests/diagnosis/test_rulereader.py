"""A reader notes the faults of a file and goes on."""

from collections.abc import Mapping
from pathlib import Path

from loganalyst.diagnosis.rulereader import Reader
from loganalyst.diagnosis.rulereading import rule
from loganalyst.model import Feature
from loganalyst.rulefiles import load as load_file

LR = "optimisation/lr-too-high.yaml"


def test_a_reader_keeps_sound_parts_and_notes_the_others(declared: Mapping[str, Feature], folder: Path) -> None:
    """A faulty rule is still read, for its id; a file that is no mapping gives no rule."""
    path = folder / LR
    path.write_text(path.read_text().replace("prior: 0.08", "prior: 2"))
    reader = Reader(load_file(path), declared)
    found = rule(reader)

    assert found is not None
    assert (found.id, len(found.evidence)) == ("lr-too-high", 3)
    assert [fault.what for fault in reader.faults] == ["prior is 2"]
    path.write_text("- 1\n")
    assert rule(Reader(load_file(path), declared)) is None
