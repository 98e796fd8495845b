"""Console output from the records of a run file."""

from wandb.proto.wandb_internal_pb2 import OutputRawRecord

from loganalyst.opening import bounds, whole, within
from loganalyst.sources.wandb.console import Console


def test_pieces_are_joined():
    """In their order; without output there is no file."""
    console = Console()
    assert console.text is None
    for piece in ("step 1\nst", "ep 2\n"):
        data = OutputRawRecord(line=piece).SerializeToString()
        console.add(b"xx" + data, 2, 2 + len(data))

    assert console.text is not None
    assert console.text.name == "output.log"
    assert console.text.read_text() == "step 1\nstep 2\n"


def test_the_output_is_read_within_the_bounds_of_a_run(tmp_path):
    """It lies in a folder of ours, which goes with the object."""
    console = Console()
    console.add(OutputRawRecord(line="x").SerializeToString(), 0, 3)
    file = console.text
    assert file is not None
    with within(bounds([tmp_path])):
        assert whole(file) == b"x"

    del console
    assert not file.exists()
