"""TensorBoard event files, written by torch's SummaryWriter."""

from collections.abc import Callable
from pathlib import Path

from formats.case import Case, Columns, Take, transposed, values


def write_events(folder: Path, rows: int, metrics: int, *, new_style: bool = False) -> Path:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder), flush_secs=3600, max_queue=1000) as writer:
        for step in range(rows):
            for name, value in values(step, metrics).items():
                writer.add_scalar(name, value, step, new_style=new_style)
    (path,) = folder.glob("events.*")
    return path


def write_tensors(folder: Path, rows: int, metrics: int) -> Path:
    return write_events(folder, rows, metrics, new_style=True)


def tbparse() -> Take:
    from tbparse import SummaryReader

    def take(path: Path) -> Callable[[], Columns]:
        frame = SummaryReader(str(path), event_types={"scalars"}).scalars
        return lambda: tuple(frame[c].tolist() if len(frame) else [] for c in ("tag", "step", "value"))

    return take


def tbparse_tensors() -> Take:
    from tbparse import SummaryReader

    def take(path: Path) -> Callable[[], Columns]:
        frame = SummaryReader(str(path), event_types={"tensors"}).tensors
        return lambda: (frame["tag"].tolist(), frame["step"].tolist(), [float(v) for v in frame["value"]])

    return take


def event_accumulator() -> Take:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def take(path: Path) -> Callable[[], Columns]:
        found = EventAccumulator(str(path), size_guidance={"scalars": 0}).Reload()
        series = {tag: found.Scalars(tag) for tag in found.Tags()["scalars"]}
        return lambda: transposed([(tag, e.step, e.value) for tag, events in series.items() for e in events])

    return take


def event_accumulator_tensors() -> Take:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    def take(path: Path) -> Callable[[], Columns]:
        found = EventAccumulator(str(path), size_guidance={"tensors": 0}).Reload()
        series = {tag: found.Tensors(tag) for tag in found.Tags()["tensors"]}
        events = [(tag, e.step, make_ndarray(e.tensor_proto).item()) for tag, every in series.items() for e in every]
        return lambda: transposed(events)

    return take


def grow(seed: Path, path: Path, size: int) -> None:
    """Event files are records one after another, so whole files may follow one another."""
    body = seed.read_bytes()
    with path.open("wb") as file:
        for _ in range(size // len(body) + 1):
            file.write(body)


SCALE = (20_000, 50)
CASES = (
    Case("tensorboard", write_events, (tbparse, event_accumulator), SCALE, grow=grow),
    Case("tensorboard new_style", write_tensors, (tbparse, tbparse_tensors, event_accumulator_tensors), SCALE),
)
