"""The files of trainers as they are written."""

from pathlib import Path

import pytest

from loganalyst.trainerfiles import trainer_files

FACTS = "title: Ours\nsource: ours\nkind: any\nwitnesses: {}\n"


def folder(place: Path, text: str) -> tuple[Path, ...]:
    (place / "trainers").mkdir()
    (place / "trainers" / "ours.yaml").write_text(text)
    return (place,)


def test_ours_and_those_of_a_folder(tmp_path: Path) -> None:
    read = trainer_files(folder(tmp_path, FACTS + "stopped: [{line: too late, text: too late, why: early}]\n"))

    assert read.shapes.keys() - trainer_files().shapes.keys() == {"ours"}
    (stop,) = read.shapes["ours"].stopped
    assert (stop.line, stop.text, stop.regex, stop.why) == ("too late", "too late", None, "early")
    assert read.files["ours"].where("stopped", 0).endswith("ours.yaml:5")
    assert read.faults == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stopped: [{line: x, text: late, why: eerly}]", "ours.yaml:5: why is 'eerly'; did you mean 'early'"),
        ("ends: [{line: x, text: ab}]", "ours.yaml:5: text is 'ab'; a text of one line with three characters or more"),
        ("ends: [{line: x}]", "ours.yaml:5: missing text"),
        ("prints: [{line: x, text: abc, regex: a, becomes: b, reads: {}}]", "ours.yaml:5: unknown key 'becomes'"),
        (
            "witnesses: {lines: {ab: 1}}",
            "ours.yaml:4: lines has 'ab'; a text of one line with three",
        ),
        ("witness: {}", "ours.yaml:5: unknown key 'witness'; did you mean 'witnesses'"),
    ],
)
def test_a_fault_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    facts = FACTS.replace("witnesses: {}\n", "") if text.startswith("witnesses") else FACTS
    read = trainer_files(folder(tmp_path, f"{facts}{text}\n"))

    assert [message in str(fault) for fault in read.faults] == [True]
    assert "ours" not in read.shapes
