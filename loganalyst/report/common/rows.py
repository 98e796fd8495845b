"""A label and its text: the smallest piece that every report is made of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A label and its text."""

    label: str
    text: str
