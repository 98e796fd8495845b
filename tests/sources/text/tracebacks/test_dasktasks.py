"""Failures of remote tasks in the log of the program that sent them: what Ray 2.60 and dask print."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loganalyst.blame.rootline import session_roots
from loganalyst.blame.survival import outlived
from loganalyst.model import Run, Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.tracebacks import dasktasks
from loganalyst.sources.text.tracebacks.printers import Printer

RAY = """\
Traceback (most recent call last):
  File "/home/me/r.py", line 15, in <module>
    ray.get(f.remote())
  File "/env/lib/python3.11/site-packages/ray/_private/worker.py", line 1053, in get_objects
    raise value.as_instanceof_cause()
ray.exceptions.RayTaskError(ValueError): \x1b[36mray::f()\x1b[39m (pid=12136, ip=192.0.2.2)
         ~~^^^^^
KeyError: 'a'

The above exception was the direct cause of the following exception:

\x1b[36mray::f()\x1b[39m (pid=12136, ip=192.0.2.2)
  File "/home/me/r.py", line 5, in f
    except KeyError as e: raise ValueError("bad part") from e
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: bad part
"""
DEPENDENT = """\
Traceback (most recent call last):
  File "/home/me/r.py", line 9, in <module>
    ray.get(g.remote(f.remote()))
ray.exceptions.RayTaskError(IndexError): ray::g() (pid=7, ip=192.0.2.2)
  At least one of the input arguments for this task could not be computed:
ray.exceptions.RayTaskError: ray::Actor.run() (pid=8, ip=192.0.2.3, actor_id=fa, repr=<r.Actor object at 0x7f8c2f00>)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/home/me/r.py", line 10, in run
    def run(self, n): return [1][n]
                             ~~~^^^
IndexError: list index out of range
"""
UNHANDLED = """\
2026-01-02 03:04:05,678 ERROR worker.py:94 -- Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): \
ray::f() (pid=7, ip=192.0.2.2)
  File "/home/me/r.py", line 5, in f
    raise ValueError("bad part")
ValueError: bad part
"""
DASK = """\
2026-01-02 03:04:05,678 - distributed.worker - ERROR - Compute Failed
Key:       load-1a6ad0dc25fd5d90cf141b1356cbbeef
State:     executing
Task:  <Task 'load-1a6ad0dc25fd5d90cf141b1356cbbeef' load(..., ...)>
Exception: "ValueError('bad: part\\\\n  second line 3')"
Traceback: '  File "/home/me/d.py", line 7, in load\\n    except KeyError: inner(x)\\n  File "/home/me/d.py", line 4, \
in inner\\n    raise ValueError(f"bad: part")\\n  File "/env/lib/python3.11/site-packages/a.py", line 9, in g\\n'

"""
OLDER = """\
distributed.worker - WARNING - Compute Failed
Function:  multiply
args:      (array([[0, 1],
       [2, 3]]))
kwargs:    {}
Exception: FileNotFoundError(2, 'No such file')

step 7 loss 0.5
"""
PROGRAM = """
from dask.distributed import Client, LocalCluster, wait
def inner(x):
    raise ValueError(f"bad part {x}")
def load(x):
    inner(x)
if __name__ == "__main__":
    with LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            wait(client.submit(load, 3))
"""


def read(path: Path, log: str) -> Tables:
    file = path / "a.log"
    file.write_text(log)
    return Tables.concat(reader.read(file))


def root_line(tables: Tables) -> int | None:
    """The line of the root cause of its only session."""
    run = Run(lines=tables.lines, points=tables.points, sessions=tables.sessions)
    (row,) = session_roots(run, outlived(run)).values()
    return row and row["line"]


def failures(tables: Tables) -> list[tuple[Any, ...]]:
    """Exception, message, frame, node and parent of each block."""
    return tables.blocks.select("exception", "message", "frame", "node", "parent").rows()


def test_a_ray_task(tmp_path: Path) -> None:
    """The driver failed because of the task, the task because of an exception it caught; all are one chain."""
    tables = read(tmp_path, RAY)

    assert failures(tables) == [
        ("ray.exceptions.RayTaskError(ValueError)", "ray::f() (pid=12136, ip=192.0.2.2)",
         "/home/me/r.py:15 in <module>", None, 2),
        ("KeyError", "'a'", None, "192.0.2.2", None),
        ("ValueError", "bad part", "/home/me/r.py:5 in f", "192.0.2.2", 1),
    ]  # fmt: skip
    assert tables.blocks.select("first_line", "last_line").rows() == [(1, 6), (6, 8), (12, 16)]
    assert tables.lines.filter(part="root").select("line", "block").rows() == [(8, 1), (16, 1)]


def test_a_ray_task_that_waited_for_another(tmp_path: Path) -> None:
    """Each task failed because of the one it waited for."""
    assert failures(read(tmp_path, DEPENDENT)) == [
        ("ray.exceptions.RayTaskError(IndexError)", "ray::g() (pid=7, ip=192.0.2.2)", "/home/me/r.py:9 in <module>",
         None, 1),
        ("ray.exceptions.RayTaskError", "ray::Actor.run() (pid=8, ip=192.0.2.3, actor_id=fa, "
         "repr=<r.Actor object at 0x7f8c2f00>)", None, "192.0.2.2", 2),
        ("IndexError", "list index out of range", "/home/me/r.py:10 in run", "192.0.2.3", None),
    ]  # fmt: skip


def test_a_ray_task_without_a_waiting_driver(tmp_path: Path) -> None:
    """Ray logs it without a traceback of the driver."""
    assert failures(read(tmp_path, UNHANDLED)) == [
        ("ValueError", "bad part", "/home/me/r.py:5 in f", "192.0.2.2", None)
    ]  # fmt: skip


def test_a_dask_task(tmp_path: Path) -> None:
    """The one line of the worker gives exception, message and innermost own frame."""
    tables = read(tmp_path, DASK)

    assert failures(tables) == [("ValueError", "bad: part", "/home/me/d.py:4 in inner", None, None)]
    assert tables.blocks.select("kind", "first_line", "last_line").rows() == [("dask", 1, 6)]
    assert tables.lines.select("line", "pattern").rows() == [(1, "dask-task-failed")]


def test_an_older_dask(tmp_path: Path) -> None:
    """Arguments over several lines, no traceback, an exception without quotes."""
    tables = read(tmp_path, OLDER)

    assert failures(tables) == [("FileNotFoundError", "2, 'No such file'", None, None, None)]
    assert tables.blocks["last_line"].to_list() == [6]
    assert tables.points["step"].to_list() == [7]


@pytest.mark.parametrize("said", ['Exception: "Value', "Exception: 3", "Exception:", "Traceback: '", "Compute Failed"])
def test_a_damaged_dask_failure(tmp_path: Path, said: str) -> None:
    """Without a readable exception there is no block; the line itself is still listed."""
    tables = read(tmp_path, f"distributed.worker - ERROR - Compute Failed\n{said}\n")

    assert failures(tables) == []
    assert tables.lines["line"].to_list() == [1, 2] if said == "Compute Failed" else [1]


def test_a_worker_that_lives_on(tmp_path: Path) -> None:
    """A failed task is the cause only where nothing worse is reported, such as the driver's own exception."""
    worse = 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nKeyError: 7\n'
    alone, both = (read(tmp_path, log) for log in (DASK, DASK + worse))

    assert root_line(alone) == 1
    assert root_line(both) == 10


def test_the_output_of_the_installed_dask(tmp_path: Path) -> None:
    """The installed dask, if there is one."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False, cwd=tmp_path)

    shown = (
        f"{file}:4" if f'File "{file}", line 4' in done.stderr else "<dynamic-code>:4"
    )  # cloudpickle 3.1.3 and newer

    assert failures(read(tmp_path, done.stderr)) == [("ValueError", "bad part 3", f"{shown} in inner", None, None)]


def test_the_fields_of_a_failure() -> None:
    """The second `Key` belongs to nothing; a failure without an exception is none."""
    lines = ["worker - WARNING - Compute Failed", "Key: f-1", "Exception: ValueError('bad batch')", "Key: f-2", "x"]

    assert dasktasks.find([Printer("", [3, 4, 5, 6, 7], lines)]) == [(3, 5, "ValueError", "bad batch", None)]
    assert dasktasks.find([Printer("", [3, 4], lines[:2])]) == []
