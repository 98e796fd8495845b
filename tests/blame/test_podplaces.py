"""The node of a fault that Kubernetes states of a pod."""

import polars as pl

from loganalyst.blame.podplaces import on_nodes
from tests.blame.blamelines import pattern, rows

FAULT = {"part": "root", "label": "host_oom", "pattern": pattern("of_pod")}
PLACED = {"part": "advice", "pattern": pattern("pod_placed")}


def node(lines: pl.DataFrame, root: int) -> str | None:
    """The node of the root-cause line."""
    found = lines.filter(row=root).with_columns(first_rank="rank", first_node="node")
    return on_nodes(found, lines)["first_node"].item()  # type: ignore[no-any-return]


def test_an_event_places_the_pod_that_the_fault_names() -> None:
    """Also where the event stands below the fault, and not the event of another pod."""
    event = PLACED | {"captures": '{"pod":"gpt-worker-2","placed":"gpu-07"}'}
    other = PLACED | {"captures": '{"pod":"gpt-worker-1","placed":"gpu-06"}'}

    assert node(rows(FAULT | {"node": "gpt-worker-2"}, event, other), 0) == "gpu-07"
    assert node(rows(FAULT | {"node": "gpt-worker-3"}, event, other), 0) == "gpt-worker-3"


def test_the_description_above_names_the_node() -> None:
    """The last one above the fault."""
    first = PLACED | {"captures": '{"placed":"gpu-01"}'}
    second = PLACED | {"captures": '{"placed":"gpu-02"}'}

    assert node(rows(first, second, FAULT, first), 2) == "gpu-02"
    assert node(rows(FAULT, first), 0) is None


def test_the_events_of_one_pod_name_its_node() -> None:
    """Not those of several pods."""
    event = PLACED | {"captures": '{"pod":"gpt-worker-2","placed":"gpu-07"}'}
    other = PLACED | {"captures": '{"pod":"gpt-worker-1","placed":"gpu-06"}'}

    assert node(rows(event, FAULT), 1) == "gpu-07"
    assert node(rows(other, event, FAULT), 2) is None


def test_a_description_places_no_fault_of_the_program() -> None:
    """An exception below the description of a pod may be of any pod."""
    placed = PLACED | {"captures": '{"placed":"gpu-01"}'}

    assert node(rows(placed, {"part": "root", "label": "code_exception", "pattern": "python-exception"}), 1) is None
