"""The size of each run: parameters, tokens and compute, from its settings, features and metrics."""

import re
from collections.abc import Mapping, Sequence

import polars as pl

from loganalyst.comparing.trainingnames import distinct
from loganalyst.store import Store

# the last part of a dotted key, or of a metric name: the most reliable first
PARAMETERS = (
    "n_params", "num_params", "num_parameters", "n_parameters", "total_params", "params", "parameters",
    "model_parameters",
)  # fmt: skip
TOKENS = (
    "train_tokens", "total_tokens", "max_tokens", "num_tokens", "n_tokens", "token_budget", "tokens", "tokens_seen",
    "consumed_tokens", "num_input_tokens_seen",
)  # fmt: skip
COMPUTE = ("total_flops", "train_flops", "flops", "total_flos", "compute_budget", "compute")
LENGTH = (
    "block_size", "seq_len", "seq_length", "sequence_length", "max_seq_length", "max_seq_len",
    "context_length", "n_ctx",
)  # fmt: skip
FLOPS = 6.0  # per token and parameter, forward and backward (Kaplan et al. 2020, arXiv:2001.08361)
PREFIX = re.compile(r"^.*[/.]")  # `train/` in `train/tokens`
NAMES = {"parameters": PARAMETERS, "tokens": TOKENS, "compute": COMPUTE}


def sizes(store: Store, runs: Sequence[str], config: pl.DataFrame) -> pl.DataFrame:
    """One row per run, in order: `parameters`, `tokens`, `samples` and `compute` (FLOP); NULL where not known.

    Each value comes from the same source for all runs: the one that most runs have. Without a source, tokens are steps
    times batch times length, and compute is 6 times parameters times tokens.
    """
    order = pl.DataFrame({"run_id": list(runs)}, schema={"run_id": pl.String})
    features = order.join(
        store.features.select("run_id", "config_parameters", "config_batch", "run_last_step").collect(),
        on="run_id", how="left", maintain_order="left",
    )  # fmt: skip
    settings = _settings(order, config)
    missing = [name for name, keys in NAMES.items() if _most_common(settings, keys) is None]
    logged = _logged(store, order, missing)
    found = {name: _best(settings, logged, keys, order.height) for name, keys in NAMES.items()}
    length = _most_common(settings, LENGTH)
    samples = features["run_last_step"] * features["config_batch"]
    parameters = found["parameters"].fill_null(features["config_parameters"])
    tokens = found["tokens"]
    if tokens.is_null().all() and length is not None:
        tokens = samples * length
    compute = found["compute"]
    if compute.is_null().all():
        compute = FLOPS * parameters * tokens
    every = pl.DataFrame({"parameters": parameters, "tokens": tokens, "compute": compute, "samples": samples})
    positive = [pl.when(pl.col(c).is_finite() & (pl.col(c) > 0)).then(pl.col(c)).alias(c) for c in every.columns]
    return order.with_columns(every.cast(pl.Float64).with_columns(positive))


def _settings(order: pl.DataFrame, config: pl.DataFrame) -> Mapping[str, pl.Series]:
    """Numeric settings by the last part of their key, in lower case."""
    wanted = {*LENGTH, *(k for keys in NAMES.values() for k in keys)}
    last = pl.col("key").str.to_lowercase().str.split(".").list.last()
    rows = config.with_columns(last=last).filter(pl.col("last").is_in(list(wanted)), pl.col("number").is_not_null())
    return _columns(order, rows.select("run_id", name="last", number="number"))


def _logged(store: Store, order: pl.DataFrame, missing: Sequence[str]) -> Mapping[str, pl.Series]:
    """The largest values of metrics for the `missing` sizes."""
    wanted = {k for name in missing for k in NAMES[name]}
    points = store.points.filter(pl.col("run_id").is_in(order["run_id"].to_list()))
    every = distinct(points.select("metric"))["metric"].to_list() if wanted else list[str]()
    found = {metric: last for metric in every if (last := PREFIX.sub("", metric.lower())) in wanted}
    if not found:
        return {}
    rows = (
        points.filter(pl.col("metric").is_in(list(found)))
        .select("run_id", name=pl.col("metric").replace_strict(found, return_dtype=pl.String), number="value")
        .group_by("run_id", "name").agg(pl.col("number").filter(pl.col("number").is_finite()).max())
    )  # fmt: skip
    return _columns(order, rows.collect(engine="streaming"))


def _columns(order: pl.DataFrame, rows: pl.DataFrame) -> Mapping[str, pl.Series]:
    wide = rows.drop_nulls("number").unique(["run_id", "name"], keep="last", maintain_order=True)
    if not wide.height:
        return {}
    columns = order.join(
        wide.pivot("name", index="run_id", values="number"), on="run_id", how="left", maintain_order="left"
    )
    return {name: columns[name] for name in columns.columns if name != "run_id"}


def _most_common(columns: Mapping[str, pl.Series], names: Sequence[str]) -> pl.Series | None:
    """The column that most runs have; in a tie, the first one of `names`."""
    known = [columns[name] for name in names if name in columns]
    return max(known, key=lambda c: len(c) - c.null_count(), default=None)


def _best(
    settings: Mapping[str, pl.Series], logged: Mapping[str, pl.Series], names: Sequence[str], n: int
) -> pl.Series:
    chosen = _most_common(settings, names)
    chosen = _most_common(logged, names) if chosen is None else chosen
    return pl.Series([None] * n, dtype=pl.Float64) if chosen is None else chosen
