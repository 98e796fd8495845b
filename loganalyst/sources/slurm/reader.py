"""SLURM's accounting: `sacct -P` (any fields in any order, separated by pipes), `sacct --json`, `scontrol show job`,
and `seff`.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.opening import opened, whole
from loganalyst.sources.files.lineblocks import Block, binary, blocks, gap, text
from loganalyst.sources.slurm import fields as slurmfields
from loganalyst.sources.slurm import sacctjson, scontrol

NAME = "slurm"

MAX_WHOLE = 256 << 20  # bytes of a file that must be read as a whole
_ID = r"^\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?(?:\.\w+)?$"  # 47, 47.batch, 32_2.0, 32_[4-9%2], 50+1
_JSON = re.compile(r'"jobs"\s*:\s*\[')  # `{"jobs": [`, before the fields of jobs
_FIELD = '"derived_exit_code"'  # a field that only sacct's jobs have


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 (the content decides, not the name)
    """How sure it is that the file is accounting: by its first line. A job log may print a record further down."""
    if binary(head):
        return 0.0
    opening = text(head)
    shown = scontrol.SCONTROL.match(opening) or scontrol.SEFF.match(opening)
    return 0.97 if shown or _header(opening) or _is_json(opening) else 0.0


def _is_json(opening: str) -> bool:
    """Whether the file begins like the output of `sacct --json`."""
    jobs = _JSON.search(opening) if opening.lstrip().startswith("{") else None
    return jobs is not None and _FIELD in opening[jobs.end() :]


def read(path: Path) -> Iterator[Tables]:
    """The `jobs` rows, one for each job and step, in file order; gap rows for what cannot be parsed."""
    with opened(path) as file:
        opening = text(file.read(1 << 16))
    if header := _header(opening):
        yield from _read_pipes(path, header)
    elif path.stat().st_size > MAX_WHOLE:
        yield Tables(gaps=gap(path, f"larger than {MAX_WHOLE >> 20} MiB and not in the format of `sacct -P`", 0))
    else:
        content = text(whole(path))
        yield _read_json(path, content) if content.lstrip().startswith("{") else _read_records(path, content)


def _header(opening: str) -> str:
    """The first line, if it names fields of `sacct -P`; else empty."""
    line = opening.lstrip().partition("\n")[0].strip()
    names = set(line.split("|"))
    return line if names & {"JobID", "JobIDRaw"} and names & set(slurmfields.FIELDS[2:]) else ""


def _tables(path: Path, raw: pl.DataFrame, *faults: pl.DataFrame) -> Tables:
    jobs, unparsed = slurmfields.jobs(raw, path.name)
    return Tables(jobs=jobs, gaps=pl.concat([table("gaps"), *faults, *(gap(path, why) for why in unparsed)]))


def _read_pipes(path: Path, header: str) -> Iterator[Tables]:
    """The rows, block by block. Rows with another number of fields than the header become a gap."""
    end = "|" if header.endswith("|") else ""  # `sacct -p` ends every line with a pipe
    names = header.removesuffix(end).split("|")
    for block in blocks(path):
        rows = _records(_lines(block, header, end), len(names) - 1).with_columns(cells=pl.col("line").str.split("|"))
        place = {name: i for i, name in reversed(list(enumerate(names))) if name in slurmfields.FIELDS}
        id_ = pl.col("cells").list.get(place.get("JobID", place.get("JobIDRaw", 0)), null_on_oob=True)
        fits = ((pl.col("cells").list.len() == len(names)) & id_.str.contains(_ID)).fill_null(value=False)
        raw = rows.filter(fits).select(pl.col("cells").list.get(i).alias(name) for name, i in place.items())
        yield _tables(path, raw, _lost(path, block, rows.filter(~fits), len(names)))


def _lines(block: Block, header: str, end: str) -> pl.DataFrame:
    """Each line (without `end`) and its offset in the block; empty lines and copies of the header are left out."""
    lines = pl.Series(block.data.decode("utf-8", "replace").split("\n"), dtype=pl.String)
    offsets = (lines.str.len_bytes() + 1).cum_sum().cast(pl.Int64).shift(1, fill_value=0)
    shown = pl.DataFrame({"line": lines.str.strip_chars_end("\r"), "offset": offsets})
    shown = shown.filter(pl.col("line").str.strip_chars() != "", pl.col("line").str.strip_chars() != header)
    return shown.with_columns(pl.col("line").str.strip_suffix(end))


def _records(lines: pl.DataFrame, pipes: int) -> pl.DataFrame:
    """The lines as records. Lines with too few pipes are joined: a command or comment may contain line breaks."""
    found = lines.with_columns(pipes=pl.col("line").str.count_matches("|", literal=True).cast(pl.Int64))
    found = found.with_columns(run=(pl.col("pipes") < pipes).rle_id(), row=pl.int_range(pl.len()))
    before = (pl.col("pipes").cum_sum() - pl.col("pipes")).over("run")
    part = pl.when(pl.col("pipes") < pipes).then(before // max(pipes, 1)).otherwise("row")
    return found.group_by("run", part.alias("part"), maintain_order=True).agg(
        pl.col("line").str.join("\n"), pl.col("offset").first()
    )


def _lost(path: Path, block: Block, bad: pl.DataFrame, fields: int) -> pl.DataFrame:
    if not bad.height:
        return table("gaps")
    why = f"{bad.height} lines that are not a job of {fields} fields, as named in the header"
    return gap(path, why, block.at(int(bad["offset"][0])), block.extent("".join(bad["line"]).encode()))


def _read_json(path: Path, content: str) -> Tables:
    found = list(sacctjson.rows(content))
    rows = [row for row in found if isinstance(row, dict)]
    names = dict.fromkeys(chain.from_iterable(rows))
    raw = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)) if rows else pl.DataFrame({"JobID": []})
    return _tables(path, raw.cast(pl.String), *(gap(path, why) for why in found if isinstance(why, str)))


def _read_records(path: Path, content: str) -> Tables:
    raw, why = (scontrol.seff if scontrol.SEFF.match(content) else scontrol.scontrol)(content)
    return _tables(path, raw, gap(path, why) if why else table("gaps"))
