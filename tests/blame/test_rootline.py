"""Which line is the root cause, and which rank and node failed first, in small logs with one answer each."""

from pathlib import Path
from random import Random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from loganalyst.blame.rootline import roots
from loganalyst.blame.survival import outlived
from loganalyst.features import text
from loganalyst.features.context import Context
from loganalyst.model import Features, table
from loganalyst.sources.ingest import ingest
from tests.blame.blame_cases import CASES, ROOT, Case


def marked(files: dict[str, str]) -> tuple[str, int] | None:
    """File and line of the mark."""
    found = [(f, n) for f, told in files.items() for n, line in enumerate(told.split("\n"), 1) if line.endswith(ROOT)]
    assert len(found) <= 1
    return found[0] if found else None


def judged(folder: Path, case: Case) -> Features:
    """The features of the run."""
    for name, told in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(told.replace(ROOT, ""))
    run = ingest(folder / next(iter(case.files)) if len(case.files) == 1 else folder)
    assert len(run.sources) == len(case.files)
    computed = text.compute(Context(run=run, curves=(), findings=table("findings")))
    pairs = {k: v if isinstance(v, tuple) else (v, None) for k, v in computed.items()}
    return Features({k: v for k, (v, _) in pairs.items()}, {k: w for k, (_, w) in pairs.items() if w})


@pytest.mark.parametrize("case", CASES, ids=[c.name.replace(" ", "-") for c in CASES])
def test_root_cause(tmp_path: Path, case: Case) -> None:
    """The root-cause line is found, with its label and the rank and node that failed first."""
    found = judged(tmp_path, case)
    witness = found.witnesses.get("log_root_label")
    place = (witness.file, witness.line) if witness else None

    assert (case.label or "none", marked(case.files)) == (found.values["log_root_label"], place)
    assert (case.rank, case.node) == (found.values.get("log_root_rank"), found.values.get("log_root_node"))


@pytest.mark.parametrize("seed", range(2))
def test_a_session_of_many_is_judged_as_if_it_were_alone(tmp_path: Path, seed: int) -> None:
    """Sessions do not affect each other, whatever their order in two logs: half of them in each order."""
    logs = [told.replace(ROOT, "") for case in CASES for told in case.files.values()]
    for name in ("train.out", "train.err"):
        Random(f"{name}{seed}").shuffle(logs)
        (tmp_path / name).write_text("".join(f"Namespace(lr=0.1)\n{log}" for log in logs))
    run = ingest(tmp_path)
    sessions = sorted(set(run.sessions["session"]))
    together = roots(outlived(run)).drop("row")
    alone = [roots(outlived(run, session)).drop("row") for session in sessions[seed::2]]

    assert len(sessions) > len(CASES)
    assert_frame_equal(together.filter(pl.col("session").is_in(sessions[seed::2])), pl.concat(alone))
