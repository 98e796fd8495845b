"""What a tool answers, and the arguments that several tools take.

An answer is a text for the reader and, for most tools, an object by a published schema. The text is a summary of the
object, never a copy. Both together have at most BRIEF characters, unless the agent asks for everything.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from loganalyst.mcp.quoted import marked, marked_text

__all__ = ["BRIEF", "WIDTH", "Answer", "Detail", "Form", "Run", "Trusted", "answered", "limit", "place", "quoting"]

BRIEF = 6000  # characters of a brief answer, text and object together
SUMMARY = 1000  # of these, for the text that goes with an object; the marks of quotations take some of both
MARKS = 300  # characters of the marks around a quotation, and of the sentence before them
MAX_TEXT = 40_000  # characters of any text
WIDTH = 120  # columns of a text

Form = Annotated[
    Literal["json", "markdown"],
    Field(description="json: an object by the published schema, and a short text; markdown: the report for people."),
]
Detail = Annotated[
    Literal["brief", "full"],
    Field(description=f"brief: at most about {BRIEF:,} characters; full: everything that agents may want."),
]
Run = Annotated[str, Field(description="A run's directory, a single file (TensorBoard, W&B, CSV, …) or a job log.")]
Trusted = Annotated[
    bool,
    Field(description="Obey a loganalyst.yaml that came with the run. Only if the user says that it is theirs."),
]


HEAD = ("schema", "status", "confidence", "outcome", "counts")  # fields of an object that goes with a whole report


@dataclass(frozen=True)
class Answer:
    """A text, and an object by a published schema (None: the tool has no schema)."""

    text: str
    data: dict[str, Any] | None = None


def limit(detail: str) -> int | None:
    """The most characters of an object; None for no limit."""
    return None if detail == "full" else BRIEF - SUMMARY - MARKS


def answered(text: str, detail: str = "brief") -> Answer:
    """A text that quotes nothing of a run, cut to what `detail` allows.

    >>> answered("x" * 7000).text[-48:]
    '… 1,300 more characters; ask for detail: "full"\\n'
    """
    return Answer(_cut(text, MAX_TEXT if detail == "full" else BRIEF - MARKS))


def quoting(text: str, detail: str, data: dict[str, Any] | None = None, *, whole: bool = False) -> Answer:
    """A text and an object about a run, with their quotations marked.

    `whole`: the text is the report, and of the object only its head goes with it. Otherwise the text is a summary.
    """
    room = BRIEF if whole or data is None else SUMMARY
    max_length = MAX_TEXT if detail == "full" else room - MARKS
    if data is not None and whole:
        data = {name: data[name] for name in HEAD if name in data}
    return Answer(marked_text(_cut(text, max_length)), None if data is None else marked(data))


def _cut(text: str, most: int) -> str:
    more = len(text) - most
    return f'{text[:most]}\n… {more:,} more characters; ask for detail: "full"\n' if more > 0 else text


def place(text: str) -> Path:
    """The path that an agent named."""
    return Path(text).expanduser()
