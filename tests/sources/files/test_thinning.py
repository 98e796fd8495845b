"""Tables that do not fit into memory: rows on disk come back, and thinned curves keep their important points."""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from loganalyst.model import table
from loganalyst.sources.files.rowspool import Spool
from loganalyst.sources.files.thinning import ROOM, fitting, gap

LIMIT = {"points": 2000}


def curve(metric: str, values: list[float], session: int = 0) -> pl.DataFrame:
    columns = {"session": session, "metric": metric, "step": range(len(values)), "value": values, "source": "a.log"}
    return table("points", columns)


def thinned(*frames: pl.DataFrame, limit: int = LIMIT["points"]) -> tuple[pl.DataFrame, str]:
    def pieces() -> Iterator[pl.DataFrame]:
        for frame in frames:
            yield from frame.iter_slices(700)

    return fitting("points", sum(frame.height for frame in frames), pieces, {"points": limit})


def test_a_table_within_the_limit_stays_as_it_is() -> None:
    points = curve("loss", [float(i) for i in range(2000)])
    kept, why = thinned(points)

    assert_frame_equal(kept, points)
    assert why == ""
    assert gap("run", why).height == 0


def test_short_curves_stay_whole() -> None:
    """The gap says how many rows are left out."""
    noise = np.random.default_rng(1).normal(size=20_000).tolist()
    short = curve("val_loss", [1.0, 2.0, 3.0])
    kept, why = thinned(curve("loss", noise), short)

    assert_frame_equal(kept.filter(metric="val_loss"), short)
    assert kept.height < LIMIT["points"]
    left = 20_003 - kept.height
    assert why.startswith(f"{left:,} of 20,003 points are not judged: a run of more than 2,000 is judged by a sample")
    assert gap("run", why)["why"].to_list() == [why]


def test_a_thinned_curve_keeps_its_ends_extremes_jumps_and_breaks() -> None:
    values = np.random.default_rng(2).normal(size=30_000)
    values[12_345], values[20_001] = 50.0, -40.0
    values[25_003:] = math.nan
    later = curve("loss", [1.0] * 10, session=1)
    kept, _ = thinned(curve("loss", values.tolist()), later)
    first, second = (kept.filter(session=n)["step"].to_list() for n in (0, 1))

    assert {0, 12_345, 20_001, 25_002, 25_003, 29_999} <= set(first)
    assert 0 in second
    assert 9 in second
    assert first == sorted(first)


@given(
    st.lists(st.sampled_from([0.0, 1.0, -1.0, math.nan, math.inf, 1e300]), min_size=21, max_size=200),
    st.integers(1, 3),
)
def test_any_curve_is_a_part_of_what_it_was(values: list[float], metrics: int) -> None:
    """Rows are neither changed nor moved; the largest and smallest finite values, the first and the last row stay."""
    points = pl.concat([curve(f"m{k}", values) for k in range(metrics)])
    kept, _ = thinned(points, limit=20)
    rows = points.with_row_index().join(kept, on=["metric", "step"], how="semi")

    assert_frame_equal(rows.drop("index"), kept)
    for k in range(metrics):
        own = kept.filter(metric=f"m{k}")
        assert own["step"][0] == 0
        assert own["step"][-1] == len(values) - 1
        finite = [v for v in values if math.isfinite(v)]
        if finite:
            left = own.filter(pl.col("value").is_finite())["value"]
            assert (left.min(), left.max()) == (min(finite), max(finite))


def test_many_curves_share_the_limit() -> None:
    noise = np.random.default_rng(3).normal(size=(50, 400))
    kept, _ = thinned(*(curve(f"m{k}", row.tolist()) for k, row in enumerate(noise)))

    assert kept["metric"].n_unique() == 50
    assert kept.height <= 1.75 / ROOM * LIMIT["points"] + 50 * 4


def test_rows_on_disk_come_back_in_order() -> None:
    """The file has no name, and leaves nothing behind."""
    frames = [curve("loss", [float(i), math.nan]) for i in range(10)]
    spool = Spool(held=5)
    rows = [spool.keep(frame) for frame in frames]

    assert spool.spilled
    for one, frame in zip(rows, frames, strict=True):
        assert_frame_equal(pl.concat(list(one.frames())), frame)


def test_a_spool_in_memory_writes_nothing() -> None:
    spool = Spool()
    for i in range(100):
        spool.keep(curve("loss", [float(i)]))

    assert not spool.spilled
