"""Lines that patterns and tracebacks claim."""

import numpy as np

from loganalyst.sources.text.patterns.matchedlines import MAX_MATCHES_PER_END, Hits


def test_matches_of_a_pattern_are_kept_from_either_end_of_a_session() -> None:
    """Each pattern and session has its own limit; a few are all kept."""
    n = 4 * MAX_MATCHES_PER_END
    row, zero = np.arange(n), np.zeros(n, np.int64)
    hits = Hits(row, row + 1, row % 2, zero, np.full(n, "{}", object), zero)
    kept, lost = hits.thinned(zero)
    more, none = hits.thinned((row >= n // 2).astype(np.int64))

    assert (len(kept), len(lost)) == (n, 0)
    assert (len(more), len(none)) == (n, 0)
    every = Hits(row, row, zero, zero, hits.captures, zero)
    kept, lost = every.thinned(zero)
    assert kept.row.tolist() == [*range(MAX_MATCHES_PER_END), *range(n - MAX_MATCHES_PER_END, n)]
    assert lost.row.tolist() == list(range(MAX_MATCHES_PER_END, n - MAX_MATCHES_PER_END))
