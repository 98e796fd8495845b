"""Features that the questions of the tests ask, one of each kind of value at least."""

from loganalyst.model import Feature

DECLARED = {
    name: Feature(name, dtype, "", "", "loss")  # type: ignore[arg-type]
    for name, dtype in {
        "x": "float",
        "y": "float",
        "i": "int",
        "s": "text",
        "b": "bool",
        "c": "bool",
        "spike_count": "int",
        "spike_step": "int",
        "train_loss": "float",
    }.items()
}
