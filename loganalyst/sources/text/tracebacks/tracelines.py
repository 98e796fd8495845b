"""The lines of one traceback: its frames, and the exception that it names."""

import re
from itertools import takewhile
from typing import NamedTuple

from loganalyst.sources.text.tracebacks.frames import FRAME, own_frame
from loganalyst.sources.text.tracebacks.headers import HEADER, chained

MAX_ROWS = 400  # rows of one printer between a header and its exception
# `torch.cuda.`
# Python's engine backtracks, and its memory grows with the repetitions of a group. So a path is a row of characters
# whose dots are followed by a name, which takes linear time. All these regexes are matched at the beginning of a line.
_PATH = r"(?![\w.]*\.[^A-Za-z_])(?:[A-Za-z_][\w.]*\.)?"
_SUFFIXES = "Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|Fault|Warning|Group|Abort|StopIteration"
# `torch.cuda.OutOfMemoryError: CUDA out of memory`, `KeyboardInterrupt`, `RayTaskError(ValueError): x`
_STRICT = re.compile(rf"({_PATH}(?=[A-Z_])(?=\w*?(?:{_SUFFIXES}))\w+(?:(?<=TaskError)\(\w+\))?)(?:\s*:\s*(.*))?$")
# `queue.Empty`; only right below the frames, because an exception may have any name
_LOOSE = re.compile(rf"({_PATH}[A-Z]\w*)(?:: (.*))?$")
_FRAME = re.compile(FRAME)
# `│ /a/train.py:3 in main`; the place may begin on the lines above
_RICH_FRAME = re.compile(r"│\s+(?:(\S*\d) )?in(?: ([^\s│]+))?(?=[ │])")
# `│ /a/very/long/path/ │`: a part of a place or a name that did not fit on one line
_RICH_PART = re.compile(r"│ (\S+) +│$")
_MAX_PLACE_LINES = 16  # lines of one place
_PLACE = re.compile(r"(.+):(\d+)$")  # `/a/train.py:3`
INDENTED = " │╭╰\t\r\v\f\x85\xa0"  # first characters of the lines between header and exception
FOREIGN = "? "  # put before a line without the margin: it does not belong to this traceback
# A call that goes behind the training, and one of the training: `preds = model.predict(x)`, `train(model, loader)`
_LATE_CALL = re.compile(
    r"\b(?:predict|test|evaluate|eval|infer|inference|export|push_to_hub|savefig|save_pretrained|to_csv|quantize|convert)"
    r"(?:_model|_on_test|_all|_results?|_proba|_onnx|_predictions?)?\(|\bplot_\w+\("
)
_TRAINING_CALL = re.compile(r"(?:train|fit)\w{0,60}\(")
# The message of such an exception is indented
_IN_USER_CODE, _CODE_INDENT = "in user code:", 4
_WORD = re.compile(r"\w")
_MAX_ROWS_TO_MESSAGE = 3  # rows below an exception without message that may hold one


class Ending(NamedTuple):
    """The line (position in its traceback) that names the exception, and its message."""

    at: int
    name: str
    says: str | None


class Lines(NamedTuple):
    """The lines of one traceback from its header on, without a group member's margin, an indent, a logger's stamp or a
    box around them. `depth` is the width of the margin.
    """

    text: list[str]
    depth: int

    def ending(self, i: int) -> Ending | None:
        """The exception that line `i` names. A line with an odd name above a frame is another process's."""
        text = self.text[i]
        if text[:1] in INDENTED or "%|" in text:
            return None
        hit = _STRICT.match(text)
        if hit is None and self.text[i - 1][:1] in INDENTED and not self._is_frame(i + 1):
            hit = _LOOSE.match(text)
        return Ending(i, hit[1], hit[2]) if hit else None

    def converted(self, ending: Ending) -> Ending | None:
        """The exception in the message of another: TensorFlow prints errors in converted code that way."""
        if ending.says != _IN_USER_CODE:
            return None
        below = takewhile(lambda k: self.text[k][:1] in INDENTED, range(ending.at + 1, len(self.text)))
        found = ((k, _STRICT.match(self.text[k][_CODE_INDENT:])) for k in below)
        return next((Ending(k, hit[1], hit[2]) for k, hit in found if hit), None)

    def indented(self, i: int) -> bool:
        """Whether line `i` may be between a header and its exception."""
        return self.text[i][:1] in INDENTED

    def bare(self) -> int:
        """The first line below the header without an indent (the number of lines if there is none)."""
        below = (i for i, text in enumerate(self.text) if text[:1] not in INDENTED and i)
        return next(below, len(self.text))

    def _is_frame(self, i: int) -> bool:
        return i < len(self.text) and _FRAME.match(self.text[i]) is not None

    def place(self, i: int) -> tuple[str, str, str] | None:
        """File, line and function (`?` where there is none) of the frame on line `i`."""
        text = self.text[i]
        if 'File "' in text and (hit := _FRAME.match(text)):
            return hit[1], hit[2], hit[3] or "?"
        if text[:1] != "│" or not (hit := _RICH_FRAME.match(text)):
            return None
        if not (found := _PLACE.match(self._above(i) + (hit[1] or ""))):
            return None
        name = None if hit[2] or i + 1 == len(self.text) else _RICH_PART.match(self.text[i + 1])
        return found[1], found[2], hit[2] or (name[1] if name else "?")

    def _above(self, i: int) -> str:
        """The parts of a place that fill the lines of a box above line `i`."""
        texts = reversed(self.text[max(i - _MAX_PLACE_LINES, 0) : i])
        parts = takewhile(bool, (hit and hit[1] for hit in map(_RICH_PART.match, texts)))
        return "".join(reversed([part for part in parts if part]))

    def late(self) -> bool:
        """Whether the user's code left the training behind: a frame calls what follows it, and none trains."""
        own = [i for i in range(1, len(self.text) - 1) if self.frame(i)]
        code = [self.text[i + 1] for i in own]
        return any(map(_LATE_CALL.search, code)) and not any(map(_TRAINING_CALL.search, code))

    def frame(self, i: int) -> str | None:
        """The frame on line `i` as "file:line in function"; None if it is in a library."""
        place = self.place(i)
        return place and own_frame(place)

    def more(self, i: int) -> str | None:
        """The first message in the lines below the exception on line `i`."""
        for k in range(i + 1, min(i + 1 + _MAX_ROWS_TO_MESSAGE, len(self.text))):
            text = self.text[k]
            if _WORD.search(text) and HEADER not in text and not chained(text) and not self.ending(k):
                return text.removeprefix(FOREIGN).strip()
        return None
