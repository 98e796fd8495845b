"""The stacks in a dump of py-spy (text or JSON) or faulthandler, process by process."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# `Process 4102: python -u train.py --local-rank 2`
PROCESS = re.compile(r"^Process (?P<pid>\d+): (?P<command>.*)$")
# `Thread 4102 (active): "MainThread"`, `Thread 0x7F4AA (idle)`, `Thread 0x00007f3b2a7fc700 (most recent call first):`
THREAD = re.compile(
    r"^(?:Current t|T)hread (?:0x)?[\da-fA-F]+ (?:\[[^\]]*\] )?"
    r"\((?P<state>idle|active(?:\+gil)?|most recent call first)\)(?:: \"(?P<name>[^\"]*)\")?:?\s*$"
)
# `    all_reduce (torch/distributed/distributed_c10d.py:2450)`
_SPY_FRAME = re.compile(r"^\s+(?P<function>\S[^()]*?) \((?P<file>[^()]*?)(?::(?P<line>\d+))?\)\s*$")
# `  File "/home/me/train.py", line 77 in train`
_FAULT_FRAME = re.compile(r'^\s+File "(?P<file>[^"]*)", line (?P<line>\d+) in (?P<function>\S+)\s*$')
# `Python v3.10.12 (/usr/bin/python3.10)`, `Timeout (0:30:00)!`
_BETWEEN = re.compile(r"^\s*$|^Python v[\d.]+ |^Timeout \([\d:.]+\)!")
_LOCAL_RANK = re.compile(r"--local[-_]rank[= ](\d{1,6})\b")  # torch's old launcher: `--local_rank=2`


class Frame(NamedTuple):
    """One call: its function, file and line (empty where unknown)."""

    function: str
    file: str
    line: str

    def __str__(self) -> str:
        """As py-spy writes it: `all_reduce (torch/distributed/distributed_c10d.py:2450)`."""
        return f"{self.function} ({self.file}:{self.line})" if self.line else f"{self.function} ({self.file})"


class Thread(NamedTuple):
    """One thread: its name (empty where unknown), and its frames from the innermost."""

    name: str
    frames: list[Frame]


class Process(NamedTuple):
    """One process: its rank (by its command line), its lines in the file, and its threads."""

    rank: int | None
    first_line: int
    last_line: int
    threads: list[Thread]


def frame(text: str) -> Frame | None:
    """The call that py-spy writes as `text`; None for the name of a process or thread.

    >>> frame("poll (multiprocessing/connection.py:936)")
    Frame(function='poll', file='multiprocessing/connection.py', line='936')
    """
    hit = _SPY_FRAME.match(f" {text}")
    return Frame(hit["function"], hit["file"], hit["line"] or "") if hit and "." in hit["file"] else None


def is_line(text: str) -> bool:
    """Whether a line belongs to a dump.

    >>> is_line("    train (train.py:140)"), is_line("step 10 | loss 2.5")
    (True, False)
    """
    return any(regex.match(text) for regex in (PROCESS, THREAD, _SPY_FRAME, _FAULT_FRAME, _BETWEEN))


def of_text(text: str) -> Iterator[Process]:
    """The processes of a dump in text. Threads without a line that names a process are one process."""
    rank, first, threads = None, 1, list[Thread]()
    number = 0
    for number, line in enumerate(text.split("\n"), 1):
        if process := PROCESS.match(line):
            if threads:
                yield Process(rank, first, number - 1, threads)
            rank, first, threads = _local_rank(process["command"]), number, []
        elif thread := THREAD.match(line):
            threads.append(Thread(thread["name"] or "", []))
        elif threads and (frame := _SPY_FRAME.match(line) or _FAULT_FRAME.match(line)):
            threads[-1].frames.append(Frame(frame["function"], frame["file"], frame["line"] or ""))
    if threads:
        yield Process(rank, first, number, threads)


def of_json(text: str) -> Iterator[Process]:
    """The processes of `py-spy dump --json`. Raises ValueError for any other content."""
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(thread, dict) for thread in found):
        raise ValueError("no list of threads")
    for pid in dict.fromkeys(str(thread.get("pid")) for thread in found):
        own = [thread for thread in found if str(thread.get("pid")) == pid]
        info = own[0].get("process_info")
        command = str(info.get("command_line", "")) if isinstance(info, dict) else ""
        yield Process(_local_rank(command), 1, 1 + text.count("\n"), [_thread(thread) for thread in own])


def _thread(thread: Mapping[str, Any]) -> Thread:
    frames = thread.get("frames")
    known = [frame for frame in frames if isinstance(frame, dict)] if isinstance(frames, list) else []
    return Thread(str(thread.get("thread_name") or ""), [_frame(frame) for frame in known])


def _frame(frame: Mapping[str, Any]) -> Frame:
    return Frame(str(frame.get("name")), str(frame.get("filename")), str(frame.get("line") or ""))


def _local_rank(command: str) -> int | None:
    found = _LOCAL_RANK.search(command)
    return int(found[1]) if found else None
