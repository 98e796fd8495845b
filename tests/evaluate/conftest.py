"""The catalogue with its judged weights."""

import pytest

from loganalyst import features, rulefiles
from loganalyst.diagnosis.catalogue import Catalogue, load


@pytest.fixture(scope="session")
def judged() -> Catalogue:
    return load(features.declared(), (rulefiles.rules_dir(),), fitted=False)
