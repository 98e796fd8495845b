"""Lines that warn. A program that warns goes on, so no such line states why it ended."""

import polars as pl

# `/env/lib/a.py:31: UserWarning: None of the inputs`, `<string>:1: DeprecationWarning: old`
_PYTHON = r":\d+: [\w.]*Warning: "
# `2024-05-01 10:00:02,123 - train - WARNING - slow`, `WARNING:root:slow`, `[10:00:02] [WARN] slow`
_LEVEL = r"^(?:.{0,60}\d\d:\d\d.{0,40}?[\s\[|:-])?\[?WARN(?:ING)?\b[\]\s:|-]"
# `W0501 10:00:02.123456 77 a.py:7] slow`, `[rank0]:[W407 10:13:23.08 a.cpp:7]`, `2024-05-01 10:00:02.1: W core/a.cc:7]`
_GLOG = r"^(?:\[\w+\]:? ?)?\[?W\d{0,4} [\w.:]|\d: W [\w/]+\.\w+:\d"
# `warning: unused import`, `a.cu(7): warning: unused`, `MESA: warning: a.c:56`
_TOOL = r"^(?:\S{1,200} ?: ?)?[Ww]arning: |^\[[Ww]arning\]"
# NCCL reports all errors at this level; other words state a level of their own before
_NO_WARNING = r"NCCL WARN|^.{0,100}?\b(?:ERROR|CRITICAL|FATAL)\b"


def warns(message: pl.Series) -> pl.Series:
    """Which lines, without progress bars before the message, are warnings of Python, of a logger or of a tool.

    >>> warns(pl.Series(["a.py:7: UserWarning: no grad", "RuntimeError: out of memory"])).to_list()
    [True, False]
    """
    level = message.str.contains(f"{_LEVEL}|{_GLOG}|{_TOOL}") & ~message.str.contains(_NO_WARNING)
    return level | of_python(message)


def of_python(message: pl.Series) -> pl.Series:
    """Which lines are warnings of Python; the line of source code that warned follows, indented."""
    return message.str.contains(_PYTHON)
