"""An exception that the interpreter printed before the buffered lines of the training."""

from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose_paths

EPOCHS = "".join(f"Epoch {i}/9 loss {2 / i:.3f}\n" for i in range(1, 10))
FAULT = """Traceback (most recent call last):
  File "run.py", line 40, in <module>
    {}
ValueError: operands could not be broadcast together with shapes (3,) (4,)
"""


@pytest.mark.parametrize(
    ("log", "status"),
    [
        (FAULT.format("y = model.predict(x)") + EPOCHS + "Training finished\n", "failed"),
        (FAULT.format("test(loader)") + EPOCHS + "Training finished\n", "failed"),
        # a first start that failed before its training, and a good second one
        (FAULT.format("train(model, loader)") + EPOCHS + "Training finished\n", "finished"),
        (FAULT.format("x = load(path)") + EPOCHS + "Training finished\n", "finished"),
        (EPOCHS + FAULT.format("y = model.predict(x)") + EPOCHS + "Training finished\n", "finished"),
    ],
)
def test_end_of_the_training_in_the_buffer(tmp_path: Path, log: str, status: str) -> None:
    """The end of a training does not show that the program outlived what it did after it."""
    path = tmp_path / "run.log"
    path.write_text(log)
    (found,) = diagnose_paths([path])

    assert found.run.status == status


CAUGHT = """Error during run: {0}
Traceback (most recent call last):
  File "/w/run.py", line 220, in main
    {1}
AttributeError: {0}
"""


@pytest.mark.parametrize(
    ("call", "status"),
    [("plot_history(history)", "failed"), ("y = model.predict(x)", "failed"), ("x = load(path)", "unknown")],
)
def test_an_exception_that_the_program_caught_at_its_top(tmp_path: Path, call: str, status: str) -> None:
    """What lies behind the training ended it, although the lines of the training are printed below."""
    path = tmp_path / "run.log"
    path.write_text("Evaluating\n" + CAUGHT.format("no attribute 'to'", call) + EPOCHS)
    (found,) = diagnose_paths([path])

    assert found.run.status == status
