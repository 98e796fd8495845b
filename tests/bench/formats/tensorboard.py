"""TensorBoard event files, written by torch's SummaryWriter.

The data server is TensorBoard's own loader, in Rust. It keeps what it read to itself, so its points are not compared;
its time is that of the process from its start to the end of its first load, all samples kept.
"""

import subprocess
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


def decoding() -> Take:
    """Our decoder alone, without finding out what reads the file."""
    from loganalyst.model import Tables
    from loganalyst.sources.tensorboard import reader

    def take(path: Path) -> Callable[[], Columns]:
        batches = list(reader.read(path))
        points = Tables.concat(batches).points
        return lambda: (points["metric"], points["step"], points["value"])

    return take


def event_file_loader() -> Take:
    """The events as messages, which TensorBoard's own readers begin with."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    def take(path: Path) -> Callable[[], Columns]:
        events = list(EventFileLoader(str(path)).Load())
        found = [(v.tag, e.step, v.tensor.float_val[0]) for e in events for v in e.summary.value]
        return lambda: transposed(found)

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


def data_server(*flags: str) -> Take:
    from tensorboard_data_server import server_binary

    command = [server_binary(), "--port", "0", "--reload", "once", "-vv", "--samples-per-plugin", "scalars=all", *flags]

    def take(path: Path) -> Callable[[], Columns]:
        with subprocess.Popen([*command, "--logdir", str(path.parent)], stderr=subprocess.PIPE, text=True) as server:
            next(line for line in server.stderr if "Finished load cycle" in line)
            server.kill()
        return lambda: ([], [], [])

    return take


def data_server_checksums() -> Take:
    return data_server("--checksum")


def grow(seed: Path, path: Path, size: int) -> None:
    """Event files are records one after another, so whole files may follow one another."""
    body = seed.read_bytes()
    with path.open("wb") as file:
        for _ in range(size // len(body) + 1):
            file.write(body)


SCALE = (20_000, 50)
CASES = (
    Case(
        "tensorboard",
        write_events,
        (tbparse, event_accumulator, data_server, data_server_checksums),
        SCALE,
        grow=grow,
    ),
    Case("tensorboard small", write_events, (decoding, tbparse, event_file_loader), (50, 1), loops=2000),
    Case("tensorboard new_style", write_tensors, (tbparse, tbparse_tensors, event_accumulator_tensors), SCALE),
)
