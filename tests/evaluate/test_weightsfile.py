"""The file of fitted weights."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from loganalyst import features, rulefiles
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.rule import Weights
from loganalyst.evaluate import weightsfile
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.fitting import Fitting
from tests.evaluate.evaluatedruns import nan_runs


def test_written_weights_are_read_again(judged: Catalogue, tmp_path: Path) -> None:
    """The file gives the same catalogue as the fitted weights."""
    some = nan_runs(*["bad_data"] * 40)
    fitted = Fitting(judged, some).weights(np.array([True] * 40))
    rules = tmp_path / "rules"
    shutil.copytree(rulefiles.rules_dir(), rules)
    (rules / "weights.yaml").write_text(weightsfile.text(fitted, some))
    read = load(features.declared(), (rules,))

    assert fitted.items
    assert answered(read, some)["confidence"].to_list() == pytest.approx(
        answered(judged.weighted(fitted), some)["confidence"].to_list(), abs=2e-3
    )
    assert {i.basis for i in read.rules["lr-too-high"].evidence} == {"measured", "judged"}
    assert judged.weighted(Weights()).rules == judged.rules
