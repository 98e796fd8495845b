"""A run with planted secrets, and a document."""

import json
from typing import Any

import pytest

import loganalyst as la
from loganalyst import anonymous
from loganalyst.model import Diagnosis
from tests.anonymous.planted import MAKERS, ROOT, SECRETS
from tests.recorded import diagnosed


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """A run with a secret in every place of its format, in a folder named after one."""
    folder = tmp_path_factory.mktemp("zqrun") / SECRETS["project"] / SECRETS["user"]
    folder.mkdir(parents=True)
    found = la.diagnose(request.param(folder, SECRETS))
    assert found.run.points.height or found.run.lines.height
    return found


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return json.loads(anonymous.render(diagnosed(ROOT / "fixtures/runs/nan-lr")))
