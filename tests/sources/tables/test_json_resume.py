"""Resumed reading of JSON lines gives the same rows as reading the whole file."""

import json as json_module
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.tables import json_reader

TABLES = ("points", "config", "gaps")
ROWS = (
    '{"mode": "train", "epoch": 1, "iter": 50, "loss": 2.5}',
    '{"mode": "train", "epoch": 1, "iter": 100, "loss": NaN}',
    '{"mode": "val", "epoch": 1, "iter": 9, "acc": [0.5, 1.5]}',
    '{"mode": "train", "epoch": 2, "iter": 50, "loss": -Infinity}',
    '{"step": 7, "loss": 0.25, "timestamp": 1700000000.5}',
    '{"training_iteration": 3, "config": {"lr": 0.5}, "loss": 1.5}',
    "",
    "[no object]",
    '{"step": 8, "image": {"_type": "image-file"}}',
    '{"loss": 1}{"loss": 2}',
    "\xe9\xe8",
)


SMALL = {"block": 100, "min_lines": 2, "chunk_lines": 2}


def resume(path: Path, mark: Mark | None, **limits: int) -> tuple[Tables, Mark | None]:
    batches, reading = [], json_reader.resume(path, mark, **limits)
    while True:
        try:
            batches.append(next(reading))
        except StopIteration as stop:
            return Tables.concat(batches), stop.value


def rows(tables: Tables, kept: int | None = None) -> dict[str, list[str]]:
    return {name: list(map(repr, getattr(tables, name)[:kept].iter_rows())) for name in TABLES}


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.sampled_from(ROWS), min_size=4, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=4).map(sorted),
    st.sampled_from(["utf-8", "latin-1", "utf-8-sig"]),
)
def test_resumed_reading_gives_the_same_rows(tmp_path, lines, cuts, encoding):
    """Wherever reading stopped, even inside a line, the kept rows and the new ones are those of the whole file."""
    content = "\n".join([ROWS[0], *lines, ""]).encode(encoding)
    path = tmp_path / "metrics.jsonl"
    had: dict[str, list[str]] = {name: [] for name in TABLES}
    mark: Mark | None = None
    for cut in [*(int(part * len(content)) for part in cuts), len(content)]:
        path.write_bytes(content[:cut])
        kept = mark.kept if mark else {}
        state = json_module.loads(json_module.dumps(mark.state)) if mark else {}
        tables, mark = resume(path, mark and Mark(mark.offset, kept, state), **SMALL)
        had = {name: had[name][: kept.get(name, 0)] + new for name, new in rows(tables).items()}

    assert had == rows(Tables.concat(json_reader.read(path, **SMALL)))


def test_only_appended_lines_are_read(tmp_path: Path) -> None:
    """The mark stands behind the last whole block; its rows are not given again."""
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(f'{{"step": {i}, "loss": {i}.5}}\n' for i in range(200)))
    first, mark = resume(path, None, block=1000)
    assert mark is not None
    with path.open("a") as file:
        file.write('{"step": 200, "loss": 0.5}\n')
    appended, _ = resume(path, mark, block=1000)

    assert first.points.height == 200
    assert 5000 < mark.offset < path.stat().st_size - 20
    assert appended.points["step"].to_list() == list(range(mark.kept["points"], 201))


def test_a_file_that_is_one_value_is_read_whole(tmp_path: Path) -> None:
    """A list of objects has no mark."""
    path = tmp_path / "history.json"
    path.write_text('[{"epoch": 0, "loss": 2}]')

    assert resume(path, None)[1] is None
