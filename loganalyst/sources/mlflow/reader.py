"""MLflow's file store: `mlruns/<experiment>/<run>` with meta.yaml and a file each metric, parameter and tag.

A metric's line is ``<ms since 1970> <value> <step>``, of old versions without the step, of new ones with a data set
behind it; its name is the path below `metrics`. Where nobody gave a step MLflow writes 0: then the rows are counted.
Format: https://mlflow.org/docs/latest/self-hosting/architecture/backend-store/ and MLflow's own files.
"""

import re
from collections.abc import Generator, Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.opening import opened, whole
from loganalyst.sources.config import yamltree
from loganalyst.sources.files.flatten import TooLargeError
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.mlflow import runtables

NAME = "mlflow"

BLOCK = 8 << 20  # bytes of a metric's lines that are parsed at once
LARGEST = 1 << 20  # bytes of a parameter, a tag or the meta.yaml
_KINDS = {"metrics", "params", "tags"}
_LINE = re.compile(rb"-?\d{1,19} \S{1,40}( -?\d{1,19}( \S+ \S+)?)?\r?\n")
_META = re.compile(rb"^(run_id|run_uuid):", re.MULTILINE)
_PLAIN = b"0123456789+-.eE \nNaInfity"  # all that stands in lines which the CSV reader takes as they are meant
_FIELDS = {"ms": pl.Int64, "value": pl.Float64, "step": pl.Int64}


def sniff(path: Path, head: bytes) -> float:
    """How surely the file is one of a run of MLflow's: its place beside meta.yaml, and a metric's first line."""
    if path.name == "meta.yaml":
        return 1.0 if _META.search(head) else 0.0
    kind, _, beside = _place(path)
    if kind == "metrics":
        return (1.0 if beside else 0.9) if _LINE.match(head) else 0.0
    return 1.0 if kind and beside else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The points of a metric's file, the `config` of a parameter or tag, the session of a meta.yaml. Raises OSError."""
    yield from resume(path, None)


def resume(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
    """As `read`, behind `mark`. Only a metric's file grows; the others are read whole each time."""
    kind, name, _ = _place(path)
    if path.name != "meta.yaml" and kind == "metrics":
        reading = _Metric(path, name, mark)
        yield from reading.blocks()
        return reading.mark()
    size = path.stat().st_size
    if size > LARGEST:
        yield Tables(gaps=gap(path, f"refused: larger than {LARGEST >> 20} MiB", 0, size))
        return None
    content = text(whole(path))
    if path.name == "meta.yaml":
        yield _meta(path, content)
    else:
        rows = [(name, content.removesuffix("\n"))]
        params, tags = (rows, []) if kind == "params" else ([], rows)
        yield Tables(config=runtables.config(path.name, params, tags))
    return None


def _place(path: Path) -> tuple[str, str, bool]:
    """metrics, params or tags; the name below that folder; whether a run's meta.yaml lies beside it."""
    parts = path.absolute().parts
    at = [i for i, part in enumerate(parts[:-1]) if part in _KINDS]
    for i in at:
        if Path(*parts[:i], "meta.yaml").is_file():
            return parts[i], "/".join(parts[i + 1 :]), True
    return (parts[at[-1]], "/".join(parts[at[-1] + 1 :]), False) if at else ("", "", False)


def _meta(path: Path, content: str) -> Tables:
    try:
        run, broken = yamltree.parse(content)
    except TooLargeError as error:
        return Tables(gaps=gap(path, f"refused: {error}", 0, path.stat().st_size))
    gaps = [gap(path, f"not valid YAML: {broken}"[:200], 0)] if broken is not None else []
    if run.get("lifecycle_stage") == "deleted":
        gaps.append(gap(path, "this run was deleted in MLflow"))
    return Tables(
        sessions=runtables.session(path.name, run),
        config=runtables.facts(path.name, run),
        gaps=pl.concat([Tables().gaps, *gaps]),
    )


class _Metric:
    """One metric's file, read on from `mark`."""

    def __init__(self, path: Path, name: str, mark: Mark | None) -> None:
        state = mark.state if mark else {}
        self.path, self.name = path, name
        self.offset = mark.offset if mark else 0
        self.line: int = state.get("line", 0)  # lines so far
        self.rows: int = state.get("rows", 0)
        self.bad: int = state.get("bad", 0)  # lines that are none of a metric's
        self.first_bad: list[int] = state.get("first_bad", [])  # its line and offset
        self.stepped: bool = state["stepped"] if mark else self._stepped()

    def blocks(self) -> Iterator[Tables]:
        """The points of the whole lines, then the gaps."""
        for data, behind in _whole_lines(self.path, self.offset):
            rows = self._good(_parsed(data), data)
            self.offset, self.line = behind, self.line + data.count(b"\n")
            given = bool((rows["step"].fill_null(0) != 0).any())
            if given and not self.stepped:
                raise StartAgainError("steps that were counted are given now")
            if not self.stepped:
                rows = rows.with_columns(step=pl.int_range(self.rows, self.rows + rows.height, dtype=pl.Int64))
            self.rows += rows.height
            if rows.height:
                named = rows.with_columns(metric=pl.lit(self.name), step=pl.col("step").fill_null(0))
                for piece in runtables.points(named, self.path.name).iter_slices(1_000_000):
                    yield Tables(points=piece)
        yield Tables(gaps=pl.concat([self._gaps(), self._unfinished()]))

    def mark(self) -> Mark:
        state = {key: getattr(self, key) for key in ("line", "rows", "bad", "first_bad", "stepped")}
        return Mark(self.offset, {"points": self.rows}, state)

    def _stepped(self) -> bool:
        """Whether any line gives a step other than 0."""
        blocks = (_parsed(data).drop_nulls(["ms", "value"]) for data, _ in _whole_lines(self.path, 0))
        return any((rows["step"].fill_null(0) != 0).any() for rows in blocks)

    def _good(self, rows: pl.DataFrame, data: bytes) -> pl.DataFrame:
        """The rows that could be read, with their line; the others are counted."""
        rows = rows.with_columns(line=pl.int_range(self.line + 1, self.line + 1 + pl.len(), dtype=pl.Int64))
        bad = rows["ms"].is_null() | rows["value"].is_null()
        if bad.any() and not self.first_bad:
            before = int(bad.arg_true()[0])
            self.first_bad = [
                self.line + before + 1,
                self.offset + sum(len(x) + 1 for x in data.split(b"\n", before)[:before]),
            ]
        self.bad += int(bad.sum())
        return rows.filter(~bad)

    def _gaps(self) -> pl.DataFrame:
        if not self.bad:
            return Tables().gaps
        line, offset = self.first_bad
        return gap(self.path, f"{self.bad} lines are no `time value step`, the first is line {line}", offset)

    def _unfinished(self) -> pl.DataFrame:
        rest = self.path.stat().st_size - self.offset
        return gap(self.path, "the last line is not finished", self.offset, rest) if rest > 0 else Tables().gaps


def _whole_lines(path: Path, offset: int) -> Iterator[tuple[bytes, int]]:
    """Blocks that end with a line, and the offset behind each; of a line longer than two blocks, which is none of a
    metric's, the end only.
    """
    with opened(path) as file:
        file.seek(offset)
        while data := file.read(BLOCK):
            data += file.readline(BLOCK)
            if whole := data[: data.rfind(b"\n") + 1]:
                offset += len(whole)
                file.seek(offset)
            else:
                while data and not data.endswith(b"\n"):
                    data = file.readline(BLOCK)
                whole, offset = data and b"\0\n", file.tell()
            if whole:
                yield whole, offset


def _parsed(data: bytes) -> pl.DataFrame:
    """A row a line: ms, value, step; NULL what is none."""
    rows = _at_once(data)
    if rows is not None:
        return rows
    lines = pl.Series(data.decode("utf-8", "replace").removesuffix("\n").split("\n"))
    fields = lines.str.strip_chars().str.split(" ").list
    texts = pl.DataFrame({name: fields.get(i, null_on_oob=True) for i, name in enumerate(_FIELDS)})
    rows = texts.select(pl.col(name).cast(kind, strict=False) for name, kind in _FIELDS.items())
    odd_step = rows["step"].is_null() & texts["step"].is_not_null()
    return rows.with_columns(ms=pl.when(~odd_step).then("ms"))


def _at_once(data: bytes) -> pl.DataFrame | None:
    """The rows of lines of which all or none have a step, and nothing else; None of any others."""
    if data.translate(None, _PLAIN):
        return None
    try:
        rows = pl.read_csv(
            data, has_header=False, separator=" ", quote_char=None, schema=_FIELDS, truncate_ragged_lines=True
        )
    except pl.exceptions.PolarsError:
        return None
    nulls = rows.null_count().row(0)
    return rows if rows.height == data.count(b"\n") and nulls in ((0, 0, 0), (0, 0, rows.height)) else None
