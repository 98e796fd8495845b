"""Histories as points: an object with a list of numbers for each metric, of JSON or of a pickle."""

from collections.abc import Iterator, Mapping
from typing import Any

from loganalyst.model import Tables
from loganalyst.sources.files.flatten import config_table
from loganalyst.sources.tables.jsonrows import Log
from loganalyst.sources.tables.jsonshape import number_lists

NAMED = "not a course of metrics: each row has a name and no step, epoch or time"  # of `namedresults`


def of_lists(log: Log, data: Mapping[str, Any]) -> Iterator[Tables]:
    """The points of the lists by metric, and the single values beside them as `config`."""
    yield from log.lists(number_lists(data, log.path))
    facts = [(key, value) for key, value in data.items() if not isinstance(value, dict | list)]
    yield Tables(config=config_table(facts, log.path.name, prefix=f"{log.path.stem}."))
