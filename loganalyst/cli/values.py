"""Converts plain values of options without pydantic, whose import takes a tenth of a short diagnosis.

typer imports it for every value, even for a default. Texts, paths and names of a choice become here what typer makes of
them. Everything else is left to typer: numbers, values that are missing, and whatever has a fault, so that all
messages are typer's.
"""

import os
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin


def plainly(parameter: Any) -> Any:
    """A parameter of typer that converts plain values itself. In versions of typer without pydantic nothing changes."""
    if hasattr(parameter, "type_descriptor") and not isinstance(parameter.process_value, partial):
        parameter.process_value = partial(_processed, parameter, parameter.process_value)
    return parameter


def _processed(parameter: Any, by_typer: Any, ctx: Any, value: Any) -> Any:
    try:
        plain = _plain(parameter, value)
    except (LookupError, ValueError, AttributeError, TypeError):  # the latter two: another typer has other names
        return by_typer(ctx, value)
    return parameter.callback(ctx, parameter, plain) if parameter.callback else plain


def _plain(parameter: Any, value: Any) -> Any:
    """The value of an option or argument. LookupError if typer has to look at it."""
    if parameter.required and not value:
        raise LookupError
    kind, several = parameter.type_descriptor, parameter.multiple or parameter.nargs == -1
    if value is None:
        return () if several else None
    if several and get_origin(kind.annotation) is list and isinstance(value, list | tuple):
        return [_one(get_args(kind.annotation)[0], kind.parameter_info, item) for item in value]
    if type(value) is kind.annotation and (value == parameter.default or kind.annotation is bool):
        return value  # a flag, or our own number
    return _one(kind.annotation, kind.parameter_info, value)


def _one(wanted: Any, info: Any, value: Any) -> Any:
    if info.parser is None and isinstance(value, str):
        if wanted is str:
            return value
        if wanted is Path and _any_path(info) and (not info.readable or os.access(value, os.R_OK)):
            return Path(value)
        if isinstance(wanted, type) and issubclass(wanted, Enum):
            return {str(member.value): member for member in wanted}[value]
    raise LookupError


def _any_path(info: Any) -> bool:
    """Whether typer would ask no more of a path than to be readable."""
    special = info.exists or info.writable or info.resolve_path or info.allow_dash or info.path_type
    return info.file_okay and info.dir_okay and not special
