"""Repair of a damaged store, before each write: rows are read or judged again, or the damaged file is set aside."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loganalyst.sources.files import address
from loganalyst.store.columns import JUDGED, KEPT, READ
from loganalyst.store.damage import affected, named
from loganalyst.store.ledger import DamagedError
from loganalyst.store.tablefiles import Folder

Places = Mapping[str, tuple[str, bool]]  # by id of each remembered run: its path, and whether it could be read


@dataclass
class Healing:
    """The result: runs that `lost` rows and are read again, runs that are `gone` for good, and `faults` in words."""

    lost: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def heal(folder: Folder, places: Callable[[], Places], forget: Callable[[], None]) -> Healing:
    """Repair what can be repaired; `forget` all runs if it is unknown what is missing. Only for the lock's holder."""
    done = Healing()
    try:
        before = folder.ledger().text()
    except DamagedError as error:
        done.faults.append(f"{error.where}: {error.what.partition(':')[0]}: every run is read again")
        folder.take_stock()
        forget()
        before = folder.ledger().text()
    for name in KEPT:
        done.faults += [_set_aside(folder, name, file, why) for file, why in folder.damaged(name).items()]
    if damaged := _damaged(folder, READ):
        _read_again(folder, damaged, places(), done)
    if damaged := _damaged(folder, JUDGED):
        _judge_again(folder, damaged, done)
    if folder.ledger().text() != before:
        folder.save()
    return done


def _damaged(folder: Folder, group: tuple[str, ...]) -> dict[Path, str]:
    return {file: why for name in group for file, why in folder.damaged(name).items()}


def _read_again(folder: Folder, damaged: Mapping[Path, str], known: Places, done: Healing) -> None:
    """Find the runs that lost rows. Runs that are gone from the disk leave the store."""
    runs = affected(folder, READ, damaged)
    if any(file.parent.name == READ[-1] for file in damaged):
        runs |= {run for run, (_, read) in known.items() if read} - set(folder.counting(READ[-1])["run_id"])
    known = {**{run: (path, True) for run, path in folder.paths(runs).items()}, **known}
    gone = {run for run in runs if run in known and not (known[run][1] and _there(known[run][0]))}
    done.gone |= gone
    folder.drop(gone, max(folder.span(file)[1] for file in damaged))
    done.faults += [
        f"{known[run][0]}: its rows in the store are damaged, and it cannot be read again: it is left out"
        for run in sorted(gone)
    ]
    done.lost = runs - gone
    if done.lost:
        done.faults += [
            f"{file}: {why}: rows are read again, {named(folder, done.lost)}" for file, why in damaged.items()
        ]
    else:
        folder.forget(damaged)


def _judge_again(folder: Folder, damaged: Mapping[Path, str], done: Healing) -> None:
    """Report the runs whose diagnoses are damaged. They count as not judged, so nothing else is needed."""
    if runs := affected(folder, JUDGED, damaged):
        done.faults += [f"{file}: {why}: rows are judged again, {named(folder, runs)}" for file, why in damaged.items()]
    else:
        folder.forget(damaged)


def _there(path: str) -> bool:
    return os.path.lexists(address.split(Path(path))[0])


def _set_aside(folder: Folder, name: str, file: Path, why: str) -> str:
    """Remove a segment that cannot be made again from the ledger; the rest of the file is kept in `damaged/`."""
    folder.forget([file])
    aside, left = folder.path / "damaged" / f"{name}-{file.name}", ""
    if os.path.lexists(file):
        aside.parent.mkdir(exist_ok=True)
        file.replace(aside)
        left = f"; the rest of it is {aside}"
    return f"{file}: {why}: rows of {name} are lost{left}"
