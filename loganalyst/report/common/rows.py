"""A label and its text: the smallest piece that every report is made of."""

import msgspec


class Row(msgspec.Struct, frozen=True):
    """A label and its text."""

    label: str
    text: str
