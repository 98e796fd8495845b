"""The settings of many runs: which vary, on what scale, which runs are equal up to the seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.baseline import Kinds, kinds
from loganalyst.comparing.comparisonresult import Scale

FACTS = ("_wandb.", "wandb-metadata.", "env.")  # what trackers say of the run themselves is no setting
LOG = 10.0  # a positive number that spans this factor is seen on a logarithmic scale
LOG_RATE = 3.0  # a learning rate already from this one on
NAMES = 6  # runs from which on a text that is another in each names the run
MOST = 60  # settings that are looked at, those that usually matter first
UNSET = "(not set)"


@dataclass(frozen=True)
class Setting:
    """A setting that varies: its levels in order and where they lie (-1..1; of a choice that says nothing), the level
    of each run (`codes`), and keys that vary alike (`also`).
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
    """Settings of runs, in the order of `runs` (ids). `same` is equal for runs that agree in all settings but the seed,
    `exact` for those that agree in the seed, the code and the versions too; `seeds` is NULL where none was logged.
    `values` has every setting that varies as text, seeds among them: one column each, one row a run.
    """

    runs: Sequence[str]
    settings: tuple[Setting, ...]
    same: pl.Series
    exact: pl.Series
    seeds: pl.Series
    values: pl.DataFrame

    def told(self, row: int) -> dict[str, str]:
        """The settings that vary of one run, as text."""
        return {s.key: shown(s.levels[int(s.codes[row])]) for s in self.settings}


def shown(level: float | str) -> str:
    """A level as one would write it."""
    return level if isinstance(level, str) else f"{level:.6g}"


def space(runs: Sequence[str], config: pl.DataFrame) -> Space:
    """The settings of `runs` (ids) in the table `config`; what only names a run or a place is left out."""
    known = kinds()
    logged = _logged(runs, config)
    sections = {key: _section(key, known) for key in logged["key"].unique()}
    section = pl.col("key").replace_strict(sections, default=None, return_dtype=pl.String)
    logged = logged.with_columns(section=section).drop_nulls("section")
    logged = logged.join(_names(logged, known), on="key", how="anti")
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
    """One row a run and key, the value as it counts: numbers that are written differently are one."""
    some = config.filter(pl.col("run_id").is_in(list(runs))).drop_nulls("value")
    number = pl.col("number").round_sig_figs(9)
    text = pl.when(number.is_not_null()).then(number.cast(pl.String)).otherwise(pl.col("value").str.strip_chars())
    return some.select("run_id", "key", "value", text=text, number=number).unique(
        ["run_id", "key"], keep="last", maintain_order=True
    )


def _section(key: str, known: Kinds) -> str | None:
    """`config`, `seed`, or what it says of code and versions; None for what says nothing."""
    kind = None if key.startswith(FACTS) else known.kind_of(key)
    if kind is None or kind.section == "place":
        return None
    return "seed" if kind.name == "seed" else kind.section


def _names(logged: pl.DataFrame, known: Kinds) -> pl.DataFrame:
    """Keys that name the run: a text or a counter that is another in every run."""
    number = pl.col("number")
    counts = (number == number.round()).all() & (number.max() - number.min() + 1 == pl.len())
    found = logged.filter(pl.col("section") != "seed").group_by("key").agg(
        alone=(pl.col("text").n_unique() == pl.len()) & (pl.len() >= NAMES),
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
    """The rows of keys that have two values, or are set in some runs only."""
    return logged.filter((pl.col("text").n_unique().over("key") > 1) | (pl.len().over("key") < n))


def _wide(order: pl.DataFrame, logged: pl.DataFrame) -> pl.DataFrame:
    if not logged.height:
        return order.drop("run_id")
    wide = logged.select("run_id", "key", "value").pivot("key", index="run_id", values="value")
    return order.join(wide, on="run_id", how="left", maintain_order="left").drop("run_id")


def _signature(order: pl.DataFrame, logged: pl.DataFrame) -> pl.Series:
    """One number a run: equal for equal settings; NULL where none was logged."""
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
    """What varies, the kinds that usually matter first; keys that part the runs alike are one."""
    by_key = _varied(logged, order.height).partition_by("key", as_dict=True)
    ranked = sorted((_rank(str(key), known), str(key)) for (key,) in by_key)
    found: dict[bytes, Setting] = {}
    for _, key in ranked:
        rows = order.join(by_key[(key,)], on="run_id", how="left", maintain_order="left")
        new = _setting(key, rows, known)
        alike = _alike(new)
        before = found.get(alike)
        if before is not None:
            found[alike] = Setting(**{**vars(before), "also": (*before.also, key)})
        elif len(new.levels) > 1 and len(found) < MOST:
            found[alike] = new
    return tuple(found.values())


def _alike(setting: Setting) -> bytes:
    """Equal for settings that part the runs in the same way; where hardly two runs share a level, that are in the same
    order or the reverse.
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
    """Where it is not set it counts as the middle level: that says least."""
    levels, codes = np.unique(numbers.drop_nulls().to_numpy(), return_inverse=True)
    every = np.full(len(numbers), int(np.median(codes)))
    every[numbers.is_not_null().to_numpy()] = codes
    log = _is_log(levels, LOG_RATE if kind == "rate" else LOG)
    at = _logarithms(levels) if log else levels
    at = 2 * (at - at[0]) / max(at[-1] - at[0], 1e-300) - 1
    return Setting(key, kind, "log" if log else "linear", tuple(levels.tolist()), at, every)


def _is_log(levels: NDArray[np.float64], factor: float) -> bool:
    """Whether they span a factor, and lie more evenly as logarithms than as they are."""
    positive = levels[levels > 0]
    if levels[0] < 0 or positive.size < 2 or positive[-1] / positive[0] < factor:
        return False
    even = np.linspace(0, 1, positive.size)
    uneven = [float(np.abs((x - x[0]) / (x[-1] - x[0]) - even).max()) for x in (positive, np.log(positive))]
    return uneven[1] <= uneven[0]


def _logarithms(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of positive levels; 0 lies a usual step below the least."""
    at = np.log(levels[levels > 0])
    return at if levels[0] > 0 else np.append(at[0] - np.median(np.diff(at)), at)
