"""MLflow's file store: `mlruns/<experiment>/<run>` with meta.yaml and one file per metric, parameter and tag.

A line of a metric is ``<ms since 1970> <value> <step>``. Old versions omit the step; new ones append a data set. The
name is the path below `metrics`. MLflow writes step 0 where none was given; such rows are counted.
Format: https://mlflow.org/docs/latest/self-hosting/architecture/backend-store/ and MLflow's own files.
"""

import re
from collections.abc import Generator, Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.opening import opened, whole
from loganalyst.sources.files.flatten import TooLargeError
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.mlflow import runtables

NAME = "mlflow"

BLOCK = 8 << 20  # bytes of a metric's lines that are parsed at once
MAX_BYTES = 1 << 20  # of a parameter, a tag or meta.yaml
_KINDS = {"metrics", "params", "tags"}
# 1700000000000 0.5 7
_LINE = re.compile(rb"-?\d{1,19} \S{1,40}( -?\d{1,19}( \S+ \S+)?)?\r?\n")
_META = re.compile(rb"^(run_id|run_uuid):", re.MULTILINE)
_PLAIN = b"0123456789+-.eE \nNaInfity"  # bytes of lines that polars' CSV parser reads correctly
_FIELDS = {"ms": pl.Int64, "value": pl.Float64, "step": pl.Int64}


def sniff(path: Path, head: bytes) -> float:
    """How sure it is that the file belongs to a run of MLflow: by a meta.yaml above it, and its first line."""
    if path.name == "meta.yaml":
        return 1.0 if _META.search(head) else 0.0
    kind, _, has_meta = _place(path)
    if kind == "metrics":
        return (1.0 if has_meta else 0.9) if _LINE.match(head) else 0.0
    return 1.0 if kind and has_meta else 0.0


def read(path: Path, **limits: int) -> Iterator[Tables]:
    """The points of a metric, the `config` of a parameter or tag, or the session of a meta.yaml. Raises OSError."""
    yield from resume(path, None, **limits)


def resume(path: Path, mark: Mark | None, *, block: int = BLOCK) -> Generator[Tables, None, Mark | None]:
    """As `read`, from `mark` on. A metric's file grows; others are read whole each time. `block`: bytes at once."""
    kind, name, _ = _place(path)
    if path.name != "meta.yaml" and kind == "metrics":
        reading = _Metric(path, name, mark, block)
        yield from reading.blocks()
        return reading.mark()
    size = path.stat().st_size
    if size > MAX_BYTES:
        yield Tables(gaps=gap(path, f"refused: larger than {MAX_BYTES >> 20} MiB", 0, size))
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
    """The kind (metrics, params or tags), the name below that folder, and whether the run's meta.yaml exists."""
    parts = path.absolute().parts
    at = [i for i, part in enumerate(parts[:-1]) if part in _KINDS]
    for i in at:
        if Path(*parts[:i], "meta.yaml").is_file():
            return parts[i], "/".join(parts[i + 1 :]), True
    return (parts[at[-1]], "/".join(parts[at[-1] + 1 :]), False) if at else ("", "", False)


def _meta(path: Path, content: str) -> Tables:
    from loganalyst.sources.config import yamltree  # the YAML library takes 25 ms, and every reader is imported

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
    """One metric's file, read from `mark` on."""

    def __init__(self, path: Path, name: str, mark: Mark | None, block: int) -> None:
        state = mark.state if mark else {}
        self.path, self.name, self.block = path, name, block
        self.offset = mark.offset if mark else 0
        self.line: int = state.get("line", 0)  # lines so far
        self.rows: int = state.get("rows", 0)
        self.bad: int = state.get("bad", 0)  # malformed lines
        self.first_bad: list[int] = state.get("first_bad", [])  # line and offset of the first
        self.stepped: bool = state["stepped"] if mark else self._stepped()

    def blocks(self) -> Iterator[Tables]:
        """The points of the whole lines, then the gaps."""
        for data, behind in _whole_lines(self.path, self.offset, self.block):
            rows = self._good(_parsed(data), data)
            self.offset, self.line = behind, self.line + data.count(b"\n")
            given = bool((rows["step"].fill_null(0) != 0).any())
            if given and not self.stepped:
                raise StartAgainError("the metric has steps now, and its rows were counted before")
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
        """Whether any line has a step other than 0."""
        lines = _whole_lines(self.path, 0, self.block)
        blocks = (_parsed(data).drop_nulls(["ms", "value"]) for data, _ in lines)
        return any((rows["step"].fill_null(0) != 0).any() for rows in blocks)

    def _good(self, rows: pl.DataFrame, data: bytes) -> pl.DataFrame:
        """The well-formed rows, with their line; the others are counted."""
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
        return gap(self.path, f"{self.bad} lines are not `time value step`, the first is line {line}", offset)

    def _unfinished(self) -> pl.DataFrame:
        size = self.path.stat().st_size - self.offset
        return gap(self.path, "the last line is not finished", self.offset, size) if size > 0 else Tables().gaps


def _whole_lines(path: Path, offset: int, block: int) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines, and the offset behind each.

    A line longer than two blocks cannot be one of a metric: a malformed line replaces it.
    """
    with opened(path) as file:
        file.seek(offset)
        while data := file.read(block):
            data += file.readline(block)
            if whole := data[: data.rfind(b"\n") + 1]:
                offset += len(whole)
                file.seek(offset)
            else:
                while data and not data.endswith(b"\n"):
                    data = file.readline(block)
                whole, offset = data and b"\0\n", file.tell()
            if whole:
                yield whole, offset


def _parsed(data: bytes) -> pl.DataFrame:
    """One row per line: ms, value, step; NULL for what cannot be parsed."""
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
    """The rows of uniform lines, all with or all without a step; None for other lines."""
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
