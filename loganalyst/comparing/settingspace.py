"""The settings of many runs: which ones vary, their scales, and which runs are equal except for the seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.baseline import Kinds, kinds
from loganalyst.comparing.comparisonresult import Scale

TRACKER_PREFIXES = ("_wandb.", "wandb-metadata.", "env.")  # facts that trackers add; they are no settings
MIN_LOG_SPAN = 10.0  # a positive number that spans this factor gets a logarithmic scale
MIN_LOG_SPAN_OF_RATE = 3.0  # the same for a learning rate
MIN_RUNS_OF_NAME = 6  # a text that differs in each of at least this many runs is a name of the run
MAX_SETTINGS = 60  # the most important ones
UNSET = "(not set)"


@dataclass(frozen=True)
class Setting:
    """A setting that varies: its levels in order, their positions `at` on the scale (-1..1; meaningless for a choice),
    the level of each run (`codes`), and other keys that vary in the same way (`also`).
    """

    key: str
    kind: str
    scale: Scale
    levels: tuple[float | str, ...]
    at: NDArray[np.float64]
    codes: NDArray[np.int64]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Space:
    """Settings of runs, in the order of `runs` (ids). `same` is equal for runs that agree in all settings except the
    seed; `exact` for runs that also agree in the seed, the code and the versions. `seeds` is NULL where none was
    logged. `values` has one row per run and one text column per varying setting, including seeds.
    """

    runs: Sequence[str]
    settings: tuple[Setting, ...]
    same: pl.Series
    exact: pl.Series
    seeds: pl.Series
    values: pl.DataFrame

    def settings_of(self, row: int) -> dict[str, str]:
        """The varying settings of one run, as text."""
        return {s.key: shown(s.levels[int(s.codes[row])]) for s in self.settings}


def shown(level: float | str) -> str:
    """A level as text."""
    return level if isinstance(level, str) else f"{level:.6g}"


def space(runs: Sequence[str], config: pl.DataFrame) -> Space:
    """The settings of `runs` (ids) in the table `config`, without names of runs and places."""
    known = kinds()
    logged = _logged(runs, config)
    sections = {key: _section(key, known) for key in logged["key"].unique()}
    section = pl.col("key").replace_strict(sections, default=None, return_dtype=pl.String)
    logged = logged.with_columns(section=section).drop_nulls("section")
    logged = logged.join(_run_names(logged, known), on="key", how="anti")
    settings, seeds = logged.filter(section="config"), logged.filter(section="seed")
    order = pl.DataFrame({"run_id": list(runs)}, schema={"run_id": pl.String})
    return Space(
        runs=list(runs),
        settings=_settings(order, settings, known),
        same=_signature(order, settings),
        exact=_signature(order, logged),
        seeds=_seeds(order, seeds),
        values=_wide(order, _varied(logged.filter(pl.col("section").is_in(["config", "seed"])), order.height)),
    )


def _logged(runs: Sequence[str], config: pl.DataFrame) -> pl.DataFrame:
    """One row per run and key. `text` is equal for numbers that are written differently."""
    rows = config.filter(pl.col("run_id").is_in(list(runs))).drop_nulls("value")
    number = pl.col("number").round_sig_figs(9)
    text = pl.when(number.is_not_null()).then(number.cast(pl.String)).otherwise(pl.col("value").str.strip_chars())
    return rows.select("run_id", "key", "value", text=text, number=number).unique(
        ["run_id", "key"], keep="last", maintain_order=True
    )


def _section(key: str, known: Kinds) -> str | None:
    """The section of a key: `config`, `seed`, or one for code and versions; None for a key without meaning."""
    kind = None if key.startswith(TRACKER_PREFIXES) else known.kind_of(key)
    if kind is None or kind.section == "place":
        return None
    return "seed" if kind.name == "seed" else kind.section


def _run_names(logged: pl.DataFrame, known: Kinds) -> pl.DataFrame:
    """Keys that name the run: a text or a counter with a different value in every run."""
    number = pl.col("number")
    counts = (number == number.round()).all() & (number.max() - number.min() + 1 == pl.len())
    found = logged.filter(pl.col("section") != "seed").group_by("key").agg(
        alone=(pl.col("text").n_unique() == pl.len()) & (pl.len() >= MIN_RUNS_OF_NAME),
        text=number.null_count() == pl.len(),
        counter=counts,
    )  # fmt: skip
    other = found.with_columns(
        other=pl.Series(
            [(kind := known.kind_of(key)) is not None and kind.name == "other" for key in found["key"]],
            dtype=pl.Boolean,
        )
    )
    return other.filter(pl.col("alone") & (pl.col("text") | (pl.col("counter") & pl.col("other")))).select("key")


def _varied(logged: pl.DataFrame, n: int) -> pl.DataFrame:
    """The rows of keys with at least two values, or that only some runs set."""
    return logged.filter((pl.col("text").n_unique().over("key") > 1) | (pl.len().over("key") < n))


def _wide(order: pl.DataFrame, logged: pl.DataFrame) -> pl.DataFrame:
    if not logged.height:
        return order.drop("run_id")
    wide = logged.select("run_id", "key", "value").pivot("key", index="run_id", values="value")
    return order.join(wide, on="run_id", how="left", maintain_order="left").drop("run_id")


def _signature(order: pl.DataFrame, logged: pl.DataFrame) -> pl.Series:
    """One number per run: equal for equal settings; NULL where no setting was logged."""
    row = pl.struct("key", "text").hash(seed=1)
    found = (
        logged.with_columns(row=row)
        .sort("key")
        .group_by("run_id")
        .agg(same=pl.col("row").implode().hash(seed=2).first())
    )
    return order.join(found, on="run_id", how="left", maintain_order="left")["same"]


def _seeds(order: pl.DataFrame, seeds: pl.DataFrame) -> pl.Series:
    found = seeds.sort("key").group_by("run_id").agg(seed=pl.col("value").str.join(", "))
    return order.join(found, on="run_id", how="left", maintain_order="left")["seed"]


def _settings(order: pl.DataFrame, logged: pl.DataFrame, known: Kinds) -> tuple[Setting, ...]:
    """The varying settings, the most important kinds first; keys that split the runs in the same way are merged."""
    by_key = _varied(logged, order.height).partition_by("key", as_dict=True)
    ranked = sorted((_rank(str(key), known), str(key)) for (key,) in by_key)
    found: dict[bytes, Setting] = {}
    for _, key in ranked:
        rows = order.join(by_key[(key,)], on="run_id", how="left", maintain_order="left")
        new = _setting(key, rows, known)
        partition = _partition(new)
        before = found.get(partition)
        if before is not None:
            found[partition] = Setting(**{**vars(before), "also": (*before.also, key)})
        elif len(new.levels) > 1 and len(found) < MAX_SETTINGS:
            found[partition] = new
    return tuple(found.values())


def _partition(setting: Setting) -> bytes:
    """Equal for settings that split the runs in the same way. If most runs have a level of their own,
    equal for settings with the same or the reverse order of runs.
    """
    codes, top = setting.codes, len(setting.levels) - 1
    if 2 * top >= codes.size:
        return min(codes.tobytes(), (top - codes).tobytes())
    _, first, parts = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[parts].tobytes()  # levels by who has them first


def _rank(key: str, known: Kinds) -> int:
    kind = known.kind_of(key)
    return kind.rank if kind else len(known.kinds)


def _setting(key: str, rows: pl.DataFrame, known: Kinds) -> Setting:
    kind = known.kind_of(key)
    name = kind.name if kind else "other"
    numbers = rows["number"]
    if numbers.null_count() == rows["text"].null_count() and numbers.is_finite().all() and numbers.n_unique() > 1:
        return _numeric(key, name, numbers)
    text = rows["text"].fill_null(UNSET)
    levels = text.value_counts().sort("count", "text", descending=[True, False])["text"].to_list()
    codes = text.replace_strict(levels, range(len(levels)), return_dtype=pl.Int64).to_numpy()
    return Setting(key, name, "choice", tuple(levels), np.linspace(-1, 1, max(len(levels), 2))[: len(levels)], codes)


def _numeric(key: str, kind: str, numbers: pl.Series) -> Setting:
    """A numeric setting. Where it is not set, it counts as the middle level, which has the least influence."""
    levels, codes = np.unique(numbers.drop_nulls().to_numpy(), return_inverse=True)
    every = np.full(len(numbers), int(np.median(codes)))
    every[numbers.is_not_null().to_numpy()] = codes
    log = _is_log(levels, MIN_LOG_SPAN_OF_RATE if kind == "rate" else MIN_LOG_SPAN)
    at = _logarithms(levels) if log else levels
    at = 2 * (at - at[0]) / max(at[-1] - at[0], 1e-300) - 1
    return Setting(key, kind, "log" if log else "linear", tuple(levels.tolist()), at, every)


def _is_log(levels: NDArray[np.float64], factor: float) -> bool:
    """Whether the levels span a factor, and their logarithms are more evenly spaced than the levels."""
    positive = levels[levels > 0]
    if levels[0] < 0 or positive.size < 2 or positive[-1] / positive[0] < factor:
        return False
    even = np.linspace(0, 1, positive.size)
    uneven = [float(np.abs((x - x[0]) / (x[-1] - x[0]) - even).max()) for x in (positive, np.log(positive))]
    return uneven[1] <= uneven[0]


def _logarithms(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of the levels; a level of 0 lies one median step below the smallest positive level."""
    at = np.log(levels[levels > 0])
    return at if levels[0] > 0 else np.append(at[0] - np.median(np.diff(at)), at)
