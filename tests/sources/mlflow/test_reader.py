"""MLflow's file store: every line of a metric, parameters, tags and the run's own facts."""

import math
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from loganalyst.model import Tables
from loganalyst.sources.discovery import runs
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.ingest import ingest
from loganalyst.sources.mlflow import reader

META = (
    "artifact_uri: file:///home/me/mlruns/0/abc/artifacts\nend_time: {end}\nentry_point_name: ''\n"
    "experiment_id: '0'\nlifecycle_stage: active\nrun_id: abc\nrun_name: brave-ant-7\nrun_uuid: abc\nsource_name: ''\n"
    "source_type: 4\nsource_version: ''\nstart_time: 1700000000123\nstatus: {status}\ntags: []\nuser_id: me\n"
)


def write(root: Path, files: dict[str, str | bytes], status: object = 3, end: object = 1700000060000) -> Path:
    """A run's folder as the file store lays it out."""
    run = root / "mlruns" / "0" / "abc"
    for name, data in {"meta.yaml": META.format(status=status, end=end), **files}.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return run


def points(path: Path) -> list[tuple[str, int, float]]:
    return Tables.concat(reader.read(path)).points.select("metric", "step", "value").rows()


def surety(path: Path) -> float:
    return reader.sniff(path, path.read_bytes()[: 1 << 16])


def test_a_metric_is_its_lines(tmp_path):
    """Time, value and step of every line, nan and inf kept; the folders below `metrics` are part of the name."""
    lines = "1700000000000 1.5 0\n1700000001000 nan 10\n1700000002000 inf 20\n1700000003000 -inf 30\n"
    path = write(tmp_path, {"metrics/val/metrics/loss": lines}) / "metrics/val/metrics/loss"
    found = Tables.concat(reader.read(path))

    assert surety(path) == 1.0
    assert found.points["metric"].unique().to_list() == ["val/metrics/loss"]
    assert found.points["step"].to_list() == [0, 10, 20, 30]
    assert found.points["line"].to_list() == [1, 2, 3, 4]
    assert str(found.points["value"].to_list()) == "[1.5, nan, inf, -inf]"
    assert found.points["time"][1] == datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC)
    assert found.gaps.height == 0


def test_steps_that_nobody_gave_are_counted(tmp_path):
    """Without a step in the line, or with the default 0 in all of them, the rows count; else steps are as given."""
    run = write(
        tmp_path,
        {
            "metrics/old": "1700000000000 3\n1700000001000 2\n",
            "metrics/zero": "1700000000000 3 0\n1700000001000 2 0\n1700000002000 1 0\n",
            "metrics/given": "1700000000000 3 0\n1700000001000 2 0\n1700000002000 1 1\n",
        },
    )

    assert points(run / "metrics/old") == [("old", 0, 3.0), ("old", 1, 2.0)]
    assert [step for _, step, _ in points(run / "metrics/zero")] == [0, 1, 2]
    assert [step for _, step, _ in points(run / "metrics/given")] == [0, 0, 1]


def test_a_data_set_may_stand_behind_the_step(tmp_path):
    """MLflow 2.4 and later name a data set and its digest in fields four and five."""
    run = write(tmp_path, {"metrics/acc": "1700000000000 0.5 7 train-set 0fe1\n1700000001000 0.6 8\n"})

    assert points(run / "metrics/acc") == [("acc", 7, 0.5), ("acc", 8, 0.6)]


def test_bad_lines_are_one_gap(tmp_path):
    """Lines that are no metric's are counted, the first is named with its place; the others are read."""
    good, bad = "1700000000000 0.5 7\n", "rubbish\n\n1700000000000 0.5 x\n1700000000000  7\n1700000000000 0,5 7\n"
    run = write(tmp_path, {"metrics/acc": (good + bad + good).encode() + b"\xff\xfe\0 1 2\n"})
    found = Tables.concat(reader.read(run / "metrics/acc"))

    assert found.points["line"].to_list() == [1, 7]
    assert found.gaps.select("offset", "why").rows() == [(20, "6 lines are not `time value step`, the first is line 2")]


def test_a_damaged_line_gives_no_steps(tmp_path):
    """Where steps are counted a line that cannot be read does not say otherwise."""
    lines = "1700000000000 0.5\n1700000000000 \0\0 9\n1700000000000 0.4\n"
    run = write(tmp_path, {"metrics/acc": lines})

    assert points(run / "metrics/acc") == [("acc", 0, 0.5), ("acc", 1, 0.4)]


@pytest.mark.parametrize("damaged", ["1700000000000 0.6  8\n", "1700000000000 \t6 8\n"])
@pytest.mark.parametrize("other", ["", "rubbish\n"])
def test_a_blank_too_many_is_damage_whatever_else_is_in_the_file(tmp_path, other, damaged):
    run = write(tmp_path, {"metrics/acc": "1700000000000 0.5 7\n" + other + damaged})

    assert points(run / "metrics/acc") == [("acc", 7, 0.5)]


@pytest.mark.parametrize("length", [90, 150, 1000])
@pytest.mark.parametrize("cut", [30, 60, 200])
def test_a_line_longer_than_blocks(tmp_path, length, cut):
    """It is one malformed line, wherever a block or the first reading ended in it."""
    data = b"1700000000000 0.5 7\n" + bytes(length) + b"\n1700000000000 0.4 8\n"
    path = write(tmp_path, {"metrics/acc": data[:cut]}) / "metrics/acc"
    first, mark = _all(path, None, block=50)
    path.write_bytes(data)
    second, _ = _all(path, mark, block=50)

    assert [*first.points["line"][: mark.kept["points"]], *second.points["line"]] == [1, 3]
    assert second.gaps.equals(_all(path, None, block=50)[0].gaps)
    assert second.gaps["why"].to_list() == ["1 lines are not `time value step`, the first is line 2"]


def test_an_unfinished_line_waits(tmp_path):
    """The end of a line that is being written is no value; what stands before it is read."""
    run = write(tmp_path, {"metrics/acc": "1700000000000 0.5 7\n1700000000000 0.51"})
    found = Tables.concat(reader.read(run / "metrics/acc"))

    assert found.points.height == 1
    assert found.gaps.select("offset", "bytes", "why").rows() == [(20, 18, "the last line is not finished")]


def test_parameters_and_tags_are_settings(tmp_path):
    """Names below the folder, nested ones dotted; MLflow's own tags keep their names, a user's stand under tags."""
    run = write(
        tmp_path,
        {
            "params/lr": "0.001",
            "params/optim/betas": "(0.9, 0.99)",
            "tags/mlflow.source.name": "train.py",
            "tags/mlflow.user": "me",
            "tags/note/x": "line 1\nline 2",
        },
    )
    found = Tables.concat(
        t for f in sorted(run.rglob("*")) if f.is_file() and f.name != "meta.yaml" for t in reader.read(f)
    )

    assert found.config.select("key", "value", "number").rows() == [
        ("lr", "0.001", 0.001),
        ("optim.betas", "(0.9, 0.99)", None),
        ("mlflow.source.name", "train.py", None),
        ("tags.note.x", "line 1\nline 2", None),
    ]
    assert {surety(f) for f in run.rglob("*") if f.is_file()} == {1.0}


@pytest.mark.parametrize(
    ("status", "told"),
    [
        *((3, "finished"), (4, "failed"), (5, "killed"), ("FINISHED", "finished"), ("FAILED", "failed")),
        *(("KILLED", "killed"), (1, "unknown"), ("RUNNING", "unknown"), (2, "unknown"), ("[]", "unknown")),
    ],
)
def test_the_end_of_a_run(tmp_path, status, told):
    """Numbers and names of states; RUNNING says nothing, for a run that was killed keeps it."""
    found = Tables.concat(reader.read(write(tmp_path, {}, status) / "meta.yaml"))

    assert found.sessions.select("status", "started", "ended").rows() == [
        (
            told,
            datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC),
            datetime(2023, 11, 14, 22, 14, 20, tzinfo=UTC),
        )
    ]
    assert ("mlflow.run_name", "brave-ant-7") in found.config.select("key", "value").rows()
    assert not [row for row in found.config.rows() if "me" in row]


@pytest.mark.parametrize("end", ["null", "''", "1e400", "99999999999999999999", "[1]", "-5"])
def test_a_run_without_an_end(tmp_path, end):
    """A time that is none is NULL."""
    found = Tables.concat(reader.read(write(tmp_path, {}, 1, end) / "meta.yaml"))

    assert found.sessions["ended"].to_list() == [None]


def test_a_deleted_run_is_told(tmp_path):
    """MLflow hides it; who names its folder is told."""
    path = write(tmp_path, {}) / "meta.yaml"
    path.write_text(path.read_text().replace("active", "deleted"))

    assert Tables.concat(reader.read(path)).gaps["why"].to_list() == ["this run was deleted in MLflow"]


def test_a_hostile_meta(tmp_path):
    """Broken, huge and deep YAML is a gap."""
    run = write(tmp_path, {})
    for content in (b"run_id: [", b"run_id: " + b"[" * 100_000, b"run_id: x\n" + b"#" * (1 << 20)):
        (run / "meta.yaml").write_bytes(content)

        assert Tables.concat(reader.read(run / "meta.yaml")).gaps.height == 1


def test_other_files_are_none_of_mlflows(tmp_path):
    """An experiment's meta.yaml is no run, a text below some folder called metrics no metric."""
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "notes").write_text("17 is a number\n")
    (tmp_path / "params").write_text("17 0.5 3\n")

    assert surety(tmp_path / "metrics" / "notes") == surety(tmp_path / "params") == 0.0
    assert reader.sniff(tmp_path / "meta.yaml", b"experiment_id: '0'\nname: Default\n") == 0.0


VALUES = st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -0.0])
STEPS = st.integers(-(2**63), 2**63 - 1) | st.just(0)
LINES = st.lists(st.tuples(st.integers(10**12, 2 * 10**12), VALUES, STEPS).map(lambda r: "{} {} {}".format(*r)))
ODD = st.sampled_from(["", "x", "1700000000000 0.5", "1700000000000 0.5 ", "1 2 3 4 5"])


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(10**12, 2 * 10**12), VALUES, STEPS), max_size=20))
def test_every_value_comes_back(tmp_path_factory, rows):
    """What Python writes of a float is read as that float, to the bit; steps and order too."""
    lines = "".join(f"{ms} {value} {step}\n" for ms, value, step in rows)
    path = write(tmp_path_factory.mktemp("m"), {"metrics/x": lines}) / "metrics/x"
    found = Tables.concat(reader.read(path)).points
    counted = all(step == 0 for *_, step in rows)

    assert [repr(v) for v in found["value"]] == [repr(value) for _, value, _ in rows]
    assert found["step"].to_list() == [i if counted else step for i, (*_, step) in enumerate(rows)]


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(LINES.map("\n".join) | ODD, max_size=6), cut=st.integers(0, 10**6))
def test_reading_on_is_reading_at_once(tmp_path_factory, lines, cut):
    """Cut anywhere: the rows kept of the first reading and those of the second are those of the whole file."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path = write(tmp_path_factory.mktemp("m"), {"metrics/x": data[: cut % (len(data) + 1)]}) / "metrics/x"
    first, mark = _all(path, None)
    path.write_bytes(data)
    whole, _ = _all(path, None)
    assert mark is not None
    try:
        second, _ = _all(path, mark)
    except StartAgainError:
        return

    kept = first.points.head(mark.kept["points"])
    assert_frame_equal(pl.concat([kept, second.points]), whole.points)
    assert_frame_equal(second.gaps, whole.gaps)


def _all(path: Path, mark: Mark | None, **limits: int) -> tuple[Tables, Mark | None]:
    batches: list[Tables] = []

    def reading():
        return (yield from reader.resume(path, mark, **limits))

    generator = reading()
    while True:
        try:
            batches.append(next(generator))
        except StopIteration as end:
            return Tables.concat(batches), end.value


def test_a_run_of_the_store_is_a_run(tmp_path):
    """All files of its folder make one run that ended as MLflow says; the experiment's own are none."""
    write(tmp_path, {"metrics/loss": "1700000000000 0.5 7\n", "params/lr": "0.1", "tags/mlflow.source.name": "a.py"}, 4)
    (tmp_path / "mlruns" / "0" / "meta.yaml").write_text("experiment_id: '0'\nname: Default\n")
    (found,) = runs.runs(tmp_path)
    run = ingest(found.root)

    assert found.root == tmp_path / "mlruns" / "0" / "abc"
    assert (run.points.height, run.status, run.gaps.height) == (1, "failed", 0)
    assert {s.format for s in run.sources} == {"mlflow"}
    assert run.config.filter(key="lr")["number"].to_list() == [0.1]
