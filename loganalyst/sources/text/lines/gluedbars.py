"""Progress bars that follow each other in one line, because the log has lost the CR that redrew them."""

import re

import numpy as np
from numpy.typing import NDArray

MIN_LINE_BYTES = 160  # bytes; a shorter line has no room for two bars
MIN_BARS = 2  # bars in a line
TQDM, KERAS = b"%|", "━ ".encode()  # one in each bar: ` 10%|█    | 1/10 [`, `1/89 ━━━━━ 6:54 5s/step`
# The end of a bar of tqdm, with more text behind it: `| 1/10 [00:01<00:09,  1.02it/s, loss=2.3]`
TQDM_END = re.compile(rb"(\| {0,9}\d{1,9}/\d{1,9} \[[^\]\r\n]{3,200}\])(?=[^\r\n])")
# The start of a bar of Keras, and digits in front of it: `0.073189/89 ━━━`
_KERAS_START = re.compile(rb" {0,9}(?<!\d)(\d{1,30})/(\d{1,9}) (?=\xe2\x94\x81)")


def parted(data: bytes, starts: NDArray[np.int64] | None = None) -> bytes:
    """The lines with a CR between two bars of a line that has none. `starts`: where lines begin, and one more where the
    next would (None: behind each LF).

    >>> parted(4 * b" 10%|#    | 1/10 [00:01<00:09,  1.02it/s, loss=2.3]").count(b"\\r")
    3
    """
    if starts is None:
        feeds = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        starts = np.concatenate([[0], feeds + 1, [len(data) + 1]])
    if np.diff(starts).max(initial=0) <= MIN_LINE_BYTES or not _has_bars(data):
        return data
    parts, at = list[bytes](), 0
    for row in np.flatnonzero(np.diff(starts) > MIN_LINE_BYTES).tolist():
        begin, end = int(starts[row]), int(starts[row + 1]) - 1
        line = data[begin:end]
        if b"\r" in line or max(line.count(TQDM), line.count(KERAS)) < MIN_BARS:
            continue
        parts += [data[at:begin], _KERAS_START.sub(_at_its_number, TQDM_END.sub(rb"\1\r", line))]
        at = end
    return b"".join([*parts, data[at:]]) if parts else data


def _has_bars(data: bytes) -> bool:
    """Whether a bar is in the lines. Single bytes are found many times faster than a text of several."""
    return any(bar[:1] in data and bar in data for bar in (TQDM, KERAS))


def _at_its_number(bar: re.Match[bytes]) -> bytes:
    """A CR before the step of a bar. Steps are as wide as their total: digits in front belong to the value before."""
    step, total = bar[1], bar[2]
    value, own = step[: -len(total)], step[-len(total) :]
    return value + b"\r" + own + b"/" + total + b" "
