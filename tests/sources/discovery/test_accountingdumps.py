"""Accounting files next to logs: an audit goes on, whatever they hold."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS
from loganalyst.sources.discovery.accountingdumps import jobs

SACCT = b"JobID|State|NodeList|Start|End|ExitCode\n7|FAILED|n1|2026-01-01T00:00:00|2026-01-01T01:00:00|1:0\n"
SCONTROL = b"JobId=7 JobName=a\n   JobState=FAILED Reason=NonZeroExitCode NodeList=n1\n   EndTime=2026-01-01T01:00:00\n"
JSON = (
    b'{"jobs": [{"job_id": 7, "derived_exit_code": {}, "state": {"current": ["FAILED"]}, "nodes": "n1", '
    b'"time": {"end": 1767229200}}]}'
)
FORMS = (SACCT, SCONTROL, JSON)

pieces = st.one_of(
    st.binary(max_size=60), st.text(max_size=30).map(str.encode), st.sampled_from([b"|", b"\n", b"=", b"0"])
)
damage = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 40), pieces), max_size=4)


@pytest.mark.parametrize("form", FORMS, ids=["sacct", "scontrol", "json"])
def test_each_form_is_read(tmp_path: Path, form: bytes) -> None:
    """The job of each, wherever the file lies."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/sacct.txt").write_bytes(form)

    assert jobs([tmp_path]).select("job", "state", "nodes").rows() == [("7", "FAILED", "n1")]


@settings(max_examples=120, deadline=None)
@given(st.sampled_from([b"", *FORMS]), damage)
def test_any_bytes_are_harmless(
    tmp_path_factory: pytest.TempPathFactory, form: bytes, cuts: list[tuple[int, int, bytes]]
) -> None:
    """Nothing is raised, no column changes its type, and no more rows come than the file has bytes."""
    for at, length, piece in cuts:
        form = form[:at] + piece + form[at + length :]
    folder = tmp_path_factory.mktemp("dumps")
    (folder / "sacct.txt").write_bytes(form)
    (folder / "sacct-2.json").write_bytes(form)
    found = jobs([folder])

    assert found.schema == SCHEMAS["jobs"]
    assert found.height <= 2 * len(form)


def test_pipes_links_and_hidden_folders_are_skipped(tmp_path: Path) -> None:
    """Nothing waits for a pipe; links and hidden folders are not followed."""
    os.mkfifo(tmp_path / "sacct.txt")
    (tmp_path / ".old").mkdir()
    (tmp_path / ".old/sacct.txt").write_bytes(SACCT)
    (tmp_path / "sacct-1.txt").symlink_to(tmp_path / ".old/sacct.txt")
    (tmp_path / "sacct-2.txt").symlink_to("nowhere")

    assert jobs([tmp_path]).height == 0
