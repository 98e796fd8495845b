from dataclasses import replace

from loganalyst import model
from loganalyst.report.diagnosis.document import document


def test_another_rank_may_print_the_line_than_the_first_one(crashed):
    """The rank that printed a line stands beside it, the one that failed first after it."""
    cause = replace(crashed.causes[0], rank=5, node=None)
    lines = model.table("lines", {"file": [cause.file], "line": [cause.line], "rank": [3], "text": ["x"]})
    found = replace(crashed, causes=(cause,), run=replace(crashed.run, lines=lines))

    assert document(found).causes[0].place == "slurm-991.out:2013, rank 3; rank 5 was first"
