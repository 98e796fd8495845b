"""Reads each file of a run with the reader that knows its format. One bad file never stops the others."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from types import ModuleType

import polars as pl
from polars.exceptions import PanicException

from loganalyst import opening
from loganalyst.limits import spare
from loganalyst.model import OF_NO_FORMAT, UNREAD, Run, Tables, table
from loganalyst.opening import Bounds, OutsideError, opened
from loganalyst.processes import streams
from loganalyst.processes.stripes import in_stripes
from loganalyst.sources import unknown
from loganalyst.sources.assemble import assemble, relative
from loganalyst.sources.discovery.filenames import Kind, kind
from loganalyst.sources.discovery.joining import Joiner
from loganalyst.sources.discovery.runs import discover, why_unreadable
from loganalyst.sources.files import address, compressed, sparse
from loganalyst.sources.files.lineblocks import text
from loganalyst.sources.files.rowspool import MAX_ROWS_IN_MEMORY, Spool
from loganalyst.sources.filetables import Earlier, Gathering, Part, Reading
from loganalyst.sources.formats import HEAD, reader
from loganalyst.sources.text import reader as text_reader
from loganalyst.sources.text import sniffing
from loganalyst.sources.text.patterns import userpatterns

Named = tuple[Path, str]  # a file and its path within the run
MIN_FILES_PER_PROCESS = 32  # to start a process takes as long as to read some ten small files
MAX_FILE_BYTES = 16 << 20  # the rows of larger files would cost too much to send between processes
MAX_EXPANSION = 100  # times its size that a compressed file is assumed to hold


def ingest(
    path: Path,
    logs: Sequence[Path] = (),
    *,
    separate: bool = False,
    rules: Callable[[Path], Sequence[Path]] = lambda _: (),
) -> Run:
    """Read the run at `path` with its job `logs` and, unless `separate`, with further logs that are found to belong to
    it.

    `rules` gives, for the root of a run, the folders with rules of the user's own. Raises SourceError if nothing could
    be read.
    """
    found, spool = discover(path), Spool(held=MAX_ROWS_IN_MEMORY)
    if not separate:
        found = Joiner().join(found)
    root = found.root if found.root.is_dir() else found.root.parent
    known = {os.path.realpath(file) for file in found.files}
    named = [log for log in dict.fromkeys(logs) if os.path.realpath(log) not in known]
    files = [(file, relative(file, root)) for file in (*found.files, *named)]

    with userpatterns.reading_with(rules(found.root)), opening.within(found.bounds(named)):
        parts = _parts(files, spool, only_texts(files, [relative(log, root) for log in named]))
    return assemble(found.root, found, parts, [f"{relative(log, root)}: named with the run" for log in named]).whole()


def only_texts(files: Sequence[Named], named: Sequence[str] = ()) -> frozenset[str]:
    """The paths within the run of the texts that are read as logs whatever they say: those that the user `named`, and
    the only text of the run.
    """
    texts = [source for file, source in files if len(files) == 1 or kind(file.name) in (Kind.LOG, Kind.NOTES)]
    return frozenset([*named, *(texts if len(texts) == 1 else ())])


def _parts(files: Sequence[Named], spool: Spool, texts: frozenset[str]) -> list[Part]:
    """The content of each file, in their order; `texts` are those of `only_texts`. If there are many small files, other
    processes read a share.
    """
    rules, bounds = userpatterns.here().folders, opening.here()

    def elsewhere(some: Sequence[Named]) -> Iterator[Part]:
        for read in streams.stream(__name__, "stripe", some, rules, bounds, texts):
            for rows in chain.from_iterable(read.big.values()):
                spool.adopt(rows)
            yield read

    def here(named: Named) -> Part:
        return part(*named, spool, only=named[1] in texts)

    return in_stripes(files, processes_for(files), here, elsewhere)


def processes_for(
    files: Sequence[Named], min_files: int = MIN_FILES_PER_PROCESS, max_size: int = MAX_FILE_BYTES
) -> int:
    """How many processes, this one among them, read the files fastest."""
    ways = min(1 + spare(), len(files) // min_files)
    return 1 if ways < 2 or any(_unpacked_size(file) > max_size for file, _ in files) else ways


def _unpacked_size(file: Path) -> int:
    try:
        size = file.stat().st_size
    except OSError:
        return 0
    return size * MAX_EXPANSION if compressed.SUFFIX.search(file.name) else size


def stripe(
    files: Sequence[Named], rules: Sequence[Path], bounds: Bounds | None, texts: frozenset[str]
) -> Iterator[Part]:
    """Some files of a run, read in another process, with the user's patterns in the folders `rules` and within
    `bounds`; `texts` are those of `only_texts`.
    """
    with userpatterns.reading_with(rules), opening.within(bounds):
        yield from (part(file, source, Spool(), only=source in texts) for file, source in files)


def part(named: Path, source: str, spool: Spool, earlier: Earlier | None = None, *, only: bool = False) -> Part:
    """One file, or one run of a file (FILE#RUN); rows of big tables go to the spool. If the file only grew since
    `earlier`, and its reader supports it, only the appended bytes are read. Any failure becomes a gap. If it is the
    `only` file of a run, a text that no reader knows is read as a log.
    """
    size, format_, rows = 0, None, Gathering(spool)
    file, run = address.split(named)
    try:
        if why := why_unreadable(file):
            return _lost(source, why)
        if not (size := file.stat().st_size):
            return _lost(source, "empty file")
        with ExitStack() as opened:
            dense, holes = opened.enter_context(sparse.solid(file))
            inner, lost = opened.enter_context(compressed.unpacked(dense, _head(dense)))
            lost = pl.concat([holes, lost])
            head = _head(inner)
            module = reader(inner, head)
            if module is None and only and sniffing.is_plain_text(inner, head):
                module = text_reader
                if not unknown.numbers(text(head)):
                    rows.take([_gap(source, OF_NO_FORMAT)])
            if module is None:
                rows.take([_gap(source, unknown.why(head)), Tables(gaps=lost)])
                return rows.part(source, None, size)
            format_ = module.NAME
            known = earlier if earlier and earlier.format == module.NAME else None
            mark = rows.read(_reading(module, inner, run), known)
            rows.take([Tables(gaps=lost)])
            if module is text_reader and not rows.points and (hint := unknown.numbers(text(head))):
                rows.take([_gap(source, hint)])
        return rows.part(source, format_, size, mark if inner == file else None)
    except OSError as error:
        rows.take([_gap(source, _refused(error))])
        again = not isinstance(error, OutsideError)  # a link that leads out stays one until the file changes
        return rows.part(source, format_ if rows.some else None, size, again=again)
    except (Exception, PanicException) as error:  # a defect of a reader must not lose the other files
        rows.take([_gap(source, f"the reader failed ({type(error).__name__}: {error})")])
        return rows.part(source, format_ if rows.some else None, size)


def _reading(module: ModuleType, file: Path, run: str | None) -> Reading:
    """The function that reads the file from a mark on (None: from its beginning)."""
    if run:
        return lambda _: module.read(file, run)
    return (lambda mark: module.resume(file, mark)) if hasattr(module, "resume") else lambda _: module.read(file)


def _refused(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):  # reading writes only temporary files
        return f"{tempfile.gettempdir()} is full ({error.strerror}), {UNREAD}; TMPDIR names another folder"
    return f"cannot be read ({error.strerror})"


def _head(file: Path) -> bytes:
    with opened(file) as handle:
        return handle.read(HEAD)


def _lost(source: str, why: str) -> Part:
    """A file without rows, and with this gap."""
    return Part(source, None, 0, _gap(source, why))


def _gap(source: str, why: str) -> Tables:
    return Tables(gaps=table("gaps", {"file": source, "offset": [0], "why": [why]}))


def accounting(path: Path) -> bool:
    """Whether the file has facts about a run but is no run: a scheduler's accounting, a rank's flight recorder."""
    try:
        module = reader(path, _head(path))
    except OSError:
        return False
    return module is not None and module.NAME in ("slurm", "flightrecorder")
