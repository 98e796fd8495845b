"""Settings of all tests: no time limits, and the same examples every time where a build must not depend on chance."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.report.browser import PLACE, Browser

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a file; they are skipped where none is installed."""
    if PLACE is None:
        pytest.skip("no Chromium is installed")
    with Browser() as one:
        yield one
