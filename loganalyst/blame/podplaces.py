"""The node of a fault that Kubernetes states of a pod."""

import polars as pl

from loganalyst.blame.linetraits import has_trait

_FILE = ["session", "file"]


def on_nodes(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The root-cause lines `found` with `first_node`: the node that runs the pod that they name, else that pod.

    Events say which node runs a pod. A description of a pod names its node above the fault; such a fault names none. So
    do the events of a single pod.
    """
    places = lines.filter(has_trait("pod_placed"))
    if not places.height:
        return found
    pod, placed = (pl.col("captures").str.json_path_match(f"$.{name}") for name in ("pod", "placed"))
    places = places.select(*_FILE, at="line", pod=pod, placed=placed).drop_nulls("placed")
    by_pod = places.drop_nulls("pod").unique(["session", "pod"], keep="last").select("session", "pod", by_pod="placed")
    of_one_pod = pl.col("pod").drop_nulls().n_unique().over(_FILE) <= 1
    above = places.filter(pl.col("pod").is_null() | of_one_pod).select(*_FILE, at="at", above="placed").sort("at")
    found = found.join(by_pod, left_on=["session", "first_node"], right_on=["session", "pod"], how="left")
    found = found.sort("line").join_asof(
        above, left_on="line", right_on="at", by=_FILE, check_sortedness=False, coalesce=False
    )
    described = pl.when(has_trait("of_pod") & pl.col("first_node").is_null()).then("above")
    found = found.with_columns(first_node=pl.coalesce("by_pod", described, "first_node"))
    return found.drop("by_pod", "above", "at").sort("session")
