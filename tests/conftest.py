"""Settings of all tests: no time limits, and the same examples every time where a build must not depend on chance."""

import gc
import importlib.util
import os
import re
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from loganalyst.processes import eachitem
from tests.report.browser import PLACE, Browser
from tests.workershere import CrewHere

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


# Processes that tests start compile the package once, and not each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Their streams are those of a user.
os.environ.pop("PYTHONUNBUFFERED", None)

# Linear algebra has one thread in each process of the tests: several beside one another wait for each other, and each
# wait takes all of a processor.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

TRUE_CREW = eachitem.Crew
TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = re.compile(r"^(?:import|from) (?:torch|safetensors\.torch)\b", re.MULTILINE)


def pytest_report_header() -> list[str]:
    """What is left out, and why."""
    return [] if TORCH else ["no torch for this Python: the test files that import it are left out"]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Whether a file of tests needs torch where there is none (None: pytest decides)."""
    if TORCH or collection_path.suffix != ".py":
        return None
    return bool(NEEDS_TORCH.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected (a million objects) lives to the end: cycles are not looked for in it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Workers take the files in the order below, and not by their number of tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every other worker looks at the files from the end: what it compiles is there when the others come to it."""
    report = yield
    if isinstance(collector, pytest.Directory) and os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579":
        report.result.reverse()
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers, files that take long begin first; else the last one to end works alone for minutes.

    The order is the same in each of them, whatever order they collected in.
    """
    if hasattr(config, "workerinput"):
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: (item.get_closest_marker("takes_long") is None, -tests[item.path], item.path))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a file; they are skipped where none is installed."""
    if PLACE is None:
        pytest.skip("no Chromium is installed")
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def workers_here() -> Iterator[None]:
    """Audits read and judge in this process. For files with tests of what they answer, not of their processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eachitem, "Crew", CrewHere)
        yield


@pytest.fixture
def true_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have their processes in this test of such a file."""
    monkeypatch.setattr(eachitem, "Crew", TRUE_CREW)
