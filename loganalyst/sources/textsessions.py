"""Where a new start of the program begins in a job log: restarts, requeues, and several jobs appended to one file."""

from dataclasses import dataclass, field

import polars as pl

from loganalyst.model import RunStatus, table

FATAL = ("root", "stop", "cascade")
_BUSY = ("loss", "Loss", "LOSS")
_BUSY_REGEX = r"(?i)loss\S{0,3}[\s:=]+[-+(\[]?\d"
_HEAD = 50  # lines: the ranks of one start may all print the first line
_STATUS: dict[str, RunStatus] = {
    "slurm_timeout": "timeout",
    "slurm_preempted": "preempted",
    "slurm_cancelled": "cancelled",
    "user_interrupt": "cancelled",
    "node_failure": "node_fail",
    "host_oom": "killed",
}


@dataclass
class Sessions:
    """Numbers the sessions of one file (from 0) as its batches pass. A start mark counts after a failure, or where the
    session already had it and trained since; a weak one (a fresh bar, the file's first line) only after a failure.
    """

    source: str
    job: str | None
    starts: list[int] = field(default_factory=lambda: [1])
    jobs: list[str | None] = field(default_factory=list)
    marks: list[pl.DataFrame] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    first: str | None = None
    busy: int = 0
    fatal: int = 0
    job_line: int = 0

    def __post_init__(self) -> None:
        self.jobs.append(self.job)

    def number(self, rows: pl.DataFrame, marks: pl.DataFrame) -> pl.Series:
        """The session (Int32) of each of `rows` (line, body), whose matched lines are `marks` (line, pattern, part,
        generic, captures).
        """
        handlers = {
            "job": self._job, "strong": self._strong, "weak": self._weak, "fatal": self._fatal, "busy": self._busy
        }  # fmt: skip
        for line, kind, detail in self._events(rows, marks).iter_rows():
            handlers[kind](line, detail)
        return self.at(rows["line"])

    def at(self, lines: pl.Series) -> pl.Series:
        """The session (Int32) of each line number."""
        return (pl.Series(self.starts).search_sorted(lines, side="right").cast(pl.Int32) - 1).clip(0)

    def _events(self, rows: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
        """line, kind (which handler), detail (job number, or pattern of a start): what decides, in file order."""
        part, job = pl.col("part"), pl.col("captures").str.json_path_match("$.job")
        jobs = marks.select("line", kind=pl.lit("job"), detail=job).drop_nulls("detail")
        weak = self._first_again(rows).select("line", kind=pl.lit("weak"), detail=pl.lit(None, pl.String))
        start = pl.when("generic").then(pl.lit("weak")).otherwise(pl.lit("strong"))
        told = marks.select(
            "line",
            kind=pl.when(part.is_in(FATAL)).then(pl.lit("fatal")).when(part == "start").then(start),
            detail="pattern",
        ).drop_nulls("kind")
        busy = rows.filter(pl.col("body").str.contains_any(list(_BUSY))).filter(
            pl.col("body").str.contains(_BUSY_REGEX)
        )
        busy = busy.select("line", kind=pl.lit("busy"), detail=pl.lit(None, pl.String))
        return pl.concat([jobs, weak, told, busy]).sort("line", maintain_order=True)

    def _first_again(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows that say what the file's first line said, numbers aside."""
        if self.first is None:
            told = rows.filter(pl.col("body").str.strip_chars() != "")["body"].head(1).to_list()
            plain = told and len(told[0]) >= 12 and not any(w in told[0] for w in ("Traceback", "%|", *_BUSY, "step"))
            self.first = told[0].translate(str.maketrans("0123456789", "0" * 10)) if plain else ""
        if not self.first:
            return rows.head(0)
        near = rows.filter(
            pl.col("body").str.len_bytes() < 1000, pl.col("body").str.starts_with(self.first.split("0", 1)[0])
        )
        same = near.filter(pl.col("body").str.replace_all(r"\d", "0") == self.first)
        return same.filter(pl.col("line") > _HEAD)

    def _busy(self, line: int, _detail: str | None) -> None:
        self.busy = line

    def _fatal(self, line: int, _detail: str | None) -> None:
        self.fatal = line

    def _strong(self, line: int, pattern: str | None) -> None:
        trained = pattern in self.seen and self.starts[-1] <= self.busy < line
        if trained or self.starts[-1] <= self.fatal < line:
            self._start(line)
        self.seen.add(pattern or "")

    def _weak(self, line: int, _detail: str | None) -> None:
        if self.starts[-1] <= self.fatal < line:
            self._start(line)

    def _job(self, line: int, job: str | None) -> None:
        """Another job's number: its lines begin after the last mention of the one before."""
        if self.jobs[-1] not in (None, job) and self.job_line >= self.starts[-1]:
            self._start(self.job_line + 1)
        self.jobs[-1], self.job_line = job, line

    def _start(self, line: int) -> None:
        self.starts.append(line)
        self.jobs.append(self.jobs[-1])
        self.seen = set()

    def add(self, marks: pl.DataFrame, numbers: pl.DataFrame, times: pl.DataFrame) -> None:
        """Remember what the summary needs: judged lines, the last line with a metric, first and last time.

        `numbers` has session and line of every metric, `times` session, line and time of every row.
        """
        judged = marks.filter(pl.col("part").is_in(["root", "stop", "confirm", "end"]))
        progress = numbers.group_by("session").agg(pl.col("line").max()).with_columns(part=pl.lit("progress"))
        spans = times.group_by("session").agg(
            started=pl.col("time").min(), ended=pl.col("time").max(), line=pl.col("line").max()
        )
        self.marks.append(
            pl.concat(
                [judged.select("session", "line", "part", "label"), progress, spans.with_columns(part=pl.lit("span"))],
                how="diagonal",
            )
        )

    def summary(self, last_line: int) -> pl.DataFrame:
        """The `sessions` table of the file."""
        marks = pl.concat(self.marks, how="diagonal") if self.marks else pl.DataFrame(schema={"session": pl.Int32})
        parts = [marks.filter(pl.col("session") == i) for i in range(len(self.starts))]
        return table("sessions", {
            "session": list(range(len(self.starts))),
            "source": self.source,
            "first_line": self.starts,
            "last_line": [*(s - 1 for s in self.starts[1:]), max(last_line, self.starts[-1])],
            "started": [p["started"].min() if "started" in p.columns else None for p in parts],
            "ended": [p["ended"].max() if "ended" in p.columns else None for p in parts],
            "status": [_status(p) for p in parts],
            "job": self.jobs,
        })  # fmt: skip


def _status(marks: pl.DataFrame) -> RunStatus:
    """How a session ended: the first fault that no later metric survived, else an end mark, else not known."""
    if not marks.height:
        return "unknown"
    progress = marks.filter(pl.col("part") == "progress")["line"].max() or 0
    final = marks.filter(
        (pl.col("part") == "stop") | (pl.col("part").is_in(["root", "confirm"]) & (pl.col("line") >= progress))
    ).sort(pl.col("part") == "confirm", "line")
    if final.height:
        return _STATUS.get(final["label"][0] or "", "failed")
    return "finished" if (marks["part"] == "end").any() else "unknown"
