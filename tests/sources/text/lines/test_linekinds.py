"""Kinds of lines: what is known of each row of a batch."""

import numpy as np

from loganalyst.sources.text.lines.chunks import chunk_of
from loganalyst.sources.text.lines.linekinds import Kinds, kind_hashes


def test_kinds_with_equal_low_bits_are_distinguished() -> None:
    kinds = Kinds()
    hashes = np.array([3 << 16 | 7, 1 << 16 | 7, 2 << 16 | 7], np.uint64)
    chunk = chunk_of(b"loss 1\nchatter\nepoch 3", np.arange(1, 4))
    kinds._add(chunk, hashes, np.repeat(np.arange(3), 3).reshape(3, 3))
    assert kinds._find(np.array([2 << 16 | 7, 3 << 16 | 7, 9 << 16 | 7, 1 << 16 | 7, 5], np.uint64)).tolist() == [
        2, 0, -1, 1, -1,
    ]  # fmt: skip


def test_flags_of_a_kind_do_not_apply_to_rare_lines() -> None:
    many = b"\n".join([b"step 3 loss: 0.5"] * 5 + [b"| loss | 3 |"] + [b"chatter"] * 5)
    look = Kinds().look(chunk_of(many, np.arange(1, 12)), kind_hashes(many))
    assert look.flags["busy"].tolist() == [True] * 5 + [False] * 6
    assert look.flags["table"].tolist() == [False] * 5 + [True] + [False] * 5


def test_a_damaged_line_at_either_end_does_not_decide_about_its_kind() -> None:
    lines = [f"2026-03-01 10:0{i}:00 INFO step={i} loss=0.5" for i in range(5)]
    lines[0], lines[3] = ":00:00 INFO step=0 loss=0.5", f"{lines[3]} .........."
    lines[4] = "2026-03-01 1\xb00:04:00 INFO step=4 loss=0.5 ............"
    data = "\n".join(lines).encode()
    look = Kinds().look(chunk_of(data, np.arange(1, 6)), kind_hashes(data))
    assert set(look.kind.tolist()) == {0}
    assert np.isnat(look.time).tolist() == [True, False, False, False, True]


def test_a_kind_seen_once_is_examined_again_in_the_next_batch() -> None:
    kinds, damaged = Kinds(), b":00:00 INFO step=0 loss=0.5"
    whole = b"\n".join(b"2026-03-01 10:0%d:00 INFO step=%d loss=0.5" % (i, i) for i in range(4))
    alone, after = (kinds.look(chunk_of(d, np.arange(1, 5)[:n]), kind_hashes(d)) for d, n in ((damaged, 1), (whole, 4)))
    assert np.isnat(alone.time).tolist() == [True]
    assert not np.isnat(after.time).any()
