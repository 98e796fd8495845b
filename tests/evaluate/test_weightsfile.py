"""The file of fitted weights."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from loganalyst import features, rulefiles
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.rule import Calibration, Weights
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


def test_a_calibration_fitted_again_keeps_the_weights_of_evidence(judged: Catalogue) -> None:
    """The head says which runs each part was fitted on. A second time replaces the line of the first."""
    some = nan_runs(*["bad_data"] * 40)
    fitted = Fitting(judged, some).weights(np.array([True] * 40))
    first = weightsfile.text(fitted, some)
    scales = Weights({}, fitted.scales | {"causes": Calibration(0.5, 1.25)})

    again = weightsfile.calibrated_again(first, scales, some, 7)

    old, new = (yaml.safe_load(text) for text in (first, again))
    assert new["calibration"]["causes"] == {"slope": 0.5, "offset": 1.25}
    assert new | {"calibration": old["calibration"]} == old
    assert again.startswith(first[: first.index("calibration:")])
    assert "# The calibration alone was fitted again on 40 runs: 0 healthy, 40 sick.\n" in again
    assert weightsfile.calibrated_again(again, scales, some, 7) == again
