"""The examples in `prints` of the trainers are the tests of their forms."""

from pathlib import Path

import pytest

from loganalyst.sources.text.metrics import printedexamples
from loganalyst.sources.text.patterns import userpatterns
from loganalyst.trainerfiles import Print, trainer_files

ENTRIES = [(name, entry) for name, shape in trainer_files().shapes.items() for entry in shape.prints]
FACTS = "title: Ours\nsource: ours\nkind: any\nwitnesses: {}\nprints:\n"
ENTRY = """  - line: "E 3 L 0.5"
    text: " L "
    regex: '^E # L #'
    as: 'epoch # loss #'
    epoch: 3
    reads: {loss: 0.5}
"""


@pytest.mark.parametrize("entry", [e for _, e in ENTRIES], ids=[f"{name}-{e.text.strip()}" for name, e in ENTRIES])
def test_our_examples_are_read_as_stated(entry: Print) -> None:
    assert printedexamples.why_misread(entry) == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("", ""), None),
        (("{loss: 0.5}", "{loss: 0.6}"), "own.yaml:8: the example is read as {'loss': 0.5}; reads, step and epoch"),
        (("epoch: 3", "epoch: 4"), "own.yaml:8: the example is read at {'epoch': 3.0}"),
        (("'^E # L #'", "'^E # M #'"), "own.yaml:8: the example is no such line: its form is 'E # L #'"),
        (("'^E # L #'", "'^E (?=#)'"), "own.yaml:8: not a regex: "),
    ],
    ids=["sound", "value", "place", "other line", "not linear"],
)
def test_a_users_example_that_is_misread_is_a_fault(
    tmp_path: Path, change: tuple[str, str], message: str | None
) -> None:
    (tmp_path / "trainers").mkdir()
    (tmp_path / "trainers" / "own.yaml").write_text(FACTS + ENTRY.replace(*change))
    found = [str(fault) for fault in printedexamples.faults(userpatterns.find([tmp_path]))]

    assert len(found) == (message is not None)
    assert all(message in fault for fault in found if message)
