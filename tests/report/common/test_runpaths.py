"""Paths of many runs, shortened by their common folder."""

from loganalyst.report.common.runpaths import common_root, short


def test_paths_are_relative_to_the_folder_of_all():
    """A single run keeps its whole path."""
    root = common_root(["/runs/a/1", "/runs/b"])

    assert (root, short("/runs/a/1", root)) == ("/runs", "a/1")
    assert (common_root(["/runs/a"]), short("/runs/a", "")) == ("", "/runs/a")
