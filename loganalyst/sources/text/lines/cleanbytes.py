"""The bytes of a log as clean UTF-8, without terminal codes."""

import codecs
import re

import numpy as np
import polars as pl

# Terminal codes: `\x1b[31m` (colour), `\x1b]0;title\x07` (window title), `\x1b(B` (character set)
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


def decoded(data: bytes) -> bytes:
    """The lines as UTF-8; a line that is not valid UTF-8 is read as Latin-1."""
    if np.frombuffer(data, np.int8).min(initial=0) >= 0:  # ASCII; several times faster than `isascii`
        return data
    try:
        pl.Series([data]).cast(pl.String)  # many times faster than `decode` for text that is not ASCII
    except pl.exceptions.ComputeError:
        return b"\n".join(_line(part) for part in data.split(b"\n"))
    return data


def _line(part: bytes) -> bytes:
    """One line as UTF-8."""
    try:
        part.decode()
    except UnicodeDecodeError:
        return part.decode("latin-1").encode()
    return part


def clean(data: bytes) -> bytes:
    """`data` without terminal codes, NUL and byte order mark. Backspaces become CR: they are refreshes too."""
    data = _ANSI.sub(b"", data) if b"\x1b" in data else data
    data = data.translate(None, b"\x00") if b"\x00" in data else data
    return data.replace(codecs.BOM_UTF8, b"").replace(b"\x08", b"\r")
