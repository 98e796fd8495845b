"""The node of a driver's word that a heading names."""

from loganalyst.blame.headednodes import below_headings
from tests.blame.blamelines import pattern, rows

FAULT = {"part": "root", "label": "gpu_hardware", "pattern": pattern("device_word")}
HEADING = {"part": "advice", "pattern": pattern("node_heading")}


def test_the_last_heading_above_names_the_node() -> None:
    """Not one below, and not where the line itself names a node."""
    first, second = (HEADING | {"captures": f'{{"{name}":"n{i}"}}'} for i, name in ((1, "headed"), (2, "headed_first")))
    lines = rows(FAULT, first, FAULT, second, FAULT | {"node": "n9"}, FAULT)
    found = lines.filter(part="root").with_columns(first_rank="rank", first_node="node")

    assert below_headings(found, lines).sort("row")["first_node"].to_list() == [None, "n1", "n9", "n2"]
