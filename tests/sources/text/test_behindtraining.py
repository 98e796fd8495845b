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
