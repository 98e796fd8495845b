"""The two sets of runs of a comparison."""

from collections.abc import Sequence

import pytest

from loganalyst.comparing.runsets import _new

RUNS = ["/a/r0", "/a/new/r1", "/a/newer/r2"]


@pytest.mark.parametrize(
    ("paths", "new"),
    [
        (["/a", "/a/new"], [False, True, False]),  # the deeper path counts
        (["/a/new", "/a"], [True, False, True]),
        (["/a", "/a"], None),
        (["/a"], None),
        (["/a", "/b"], None),  # no run lies in the second set
    ],
)
def test_runs_belong_to_the_deepest_path(paths: Sequence[str], new: list[bool] | None) -> None:
    found = _new(RUNS, paths)

    assert (None if found is None else found.tolist()) == new
