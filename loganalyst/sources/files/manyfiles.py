"""The files of one run through several processes: of a job of a thousand ranks each wrote a log of its own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from loganalyst.limits import spare
from loganalyst.sources.files import isolated
from loganalyst.sources.files.compressed import SUFFIX
from loganalyst.sources.filetables import Part

FEWEST = 32  # files a process: to start one takes as long as some ten of them
LARGEST = 16 << 20  # bytes; where files are larger, what was read of them would have to go from process to process
PACKED = 100  # times its size that a compressed file may hold

Named = tuple[Path, str]  # a file and its path within the run


def parts(
    files: Sequence[Named], one: Callable[[Path, str], Part], take: Callable[[Part], object], module: str, *more: object
) -> list[Part]:
    """Each of the `files` as `one` reads it, in their order. Of many small ones other processes read their share: the
    generator `stripe` of `module`, called with files and `more`; each part is given to `take` as it comes, by another
    thread. What one of them did not read is read here.
    """
    ways = min(1 + spare(), len(files) // FEWEST)
    if ways < 2 or any(_size(file) > LARGEST for file, _ in files):
        return [one(*named) for named in files]
    stripes = [files[way::ways] for way in range(ways)]
    with ThreadPoolExecutor(ways - 1) as pool:
        others = [pool.submit(_elsewhere, module, stripe, take, more) for stripe in stripes[1:]]
        read = [[one(*named) for named in stripes[0]], *(other.result() for other in others)]
    whole = [[*done, *(one(*named) for named in of[len(done) :])] for done, of in zip(read, stripes, strict=True)]
    return [whole[i % ways][i // ways] for i in range(len(files))]


def _elsewhere(
    module: str, files: Sequence[Named], take: Callable[[Part], object], more: Sequence[object]
) -> list[Part]:
    done: list[Part] = []
    with suppress(isolated.DiedError):
        for part in isolated.each(module, "stripe", files, *more):
            take(part)
            done.append(part)  # what came before the other process died counts
    return done


def _size(file: Path) -> int:
    try:
        size = file.stat().st_size
    except OSError:
        return 0
    return size * PACKED if SUFFIX.search(file.name) else size
