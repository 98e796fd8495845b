"""Batches of whole lines hold every byte of a file."""

import tempfile

from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines.filebatches import read_lines
from loganalyst.sources.text.sizes import Sizes


@given(
    parts=st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bcd" * 9, b"e" * 70]), max_size=60),
    chunk=st.integers(20, 90),
)
def test_every_byte_of_a_file_is_in_one_batch(parts: list[bytes], chunk: int) -> None:
    """For any length of lines; batches end with a line, or else a refresh, or else anywhere."""
    data = b"".join(parts)
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(data)
        found = list(read_lines(file.fileno(), 0, 0, Sizes(batch=chunk, cache=16)))

    assert b"".join(part + b"\n" * fed for part, fed, _ in found) == data
    assert all(fed or part.endswith(b"\r") or b"\r" not in part for part, fed, _ in found[:-1])
    assert all(read is None or read % chunk == 0 for _, _, read in found)
