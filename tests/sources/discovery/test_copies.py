"""Copies of files that a walk met before."""

import os
from pathlib import Path

from loganalyst.sources.discovery.copies import Copies
from loganalyst.sources.discovery.folder import Group

EVENTS = "events.out.tfevents.1714550000.host.1.0"


def group(*files: Path, logs: tuple[Path, ...] = ()) -> Group:
    return Group(curves=[(str(file), file.stat().st_ino) for file in files], logs=[str(log) for log in logs])


def write(file: Path, text: str = "x" * 100) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_hard_link_is_a_copy_under_any_name(tmp_path: Path) -> None:
    first, copies = write(tmp_path / "a/metrics.csv"), Copies()
    (tmp_path / "b").mkdir()
    os.link(first, tmp_path / "b/other.csv")
    assert copies.leave_out(group(first)) == ""
    second = group(tmp_path / "b/other.csv")

    assert copies.leave_out(second) == str(first)
    assert second.curves == []
    assert second.ignored == [f"{tmp_path}/b/other.csv: a copy of {first}"]


def test_an_event_file_of_the_same_name_and_content_is_a_copy(tmp_path: Path) -> None:
    copies = Copies()
    copies.leave_out(group(write(tmp_path / "a" / EVENTS)))

    assert copies.leave_out(group(write(tmp_path / "b" / EVENTS))) == str(tmp_path / "a" / EVENTS)
    assert copies.leave_out(group(write(tmp_path / "c" / EVENTS, "x" * 99 + "y"))) == ""


def test_tables_of_the_same_name_and_content_are_no_copies(tmp_path: Path) -> None:
    copies = Copies()
    copies.leave_out(group(write(tmp_path / "a/metrics.csv")))

    assert copies.leave_out(group(write(tmp_path / "b/metrics.csv"))) == ""


def test_a_copy_with_another_log_is_kept_whole(tmp_path: Path) -> None:
    """With the same log it is left out with it."""
    copies = Copies()
    copies.leave_out(group(write(tmp_path / "a" / EVENTS), logs=(write(tmp_path / "a/job.out"),)))
    same = group(write(tmp_path / "b" / EVENTS), logs=(write(tmp_path / "b/job.out"),))
    other = group(write(tmp_path / "c" / EVENTS), logs=(write(tmp_path / "c/job.out", "another"),))

    assert copies.leave_out(same) == str(tmp_path / "a" / EVENTS)
    assert (same.curves, same.logs) == ([], [])
    assert copies.leave_out(other) == ""
    assert (len(other.curves), len(other.logs)) == (1, 1)
