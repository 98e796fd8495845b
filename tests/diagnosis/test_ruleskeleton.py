"""The template of a user's own rule."""

import pytest
import yaml

from loganalyst.diagnosis.ruleskeleton import skeleton
from loganalyst.errors import RuleError


def test_the_skeleton_has_its_name_and_keeps_placeholders() -> None:
    """Valid YAML; braces of placeholders are single."""
    found = yaml.safe_load(skeleton("too-short", "mine"))

    assert (found["id"], found["family"]) == ("too-short", "mine")
    assert found["evidence"][0]["says"].startswith(
        "{train_loss_metric} fell by only {train_loss_half_drop_relative:.1%}"
    )


@pytest.mark.parametrize(("id_", "family"), [("Too-Short", "mine"), ("too-short", "../mine"), ("", "mine")])
def test_other_names_are_refused(id_: str, family: str) -> None:
    """Only lower-case words with hyphens are names of files."""
    with pytest.raises(RuleError, match="lower-case words with hyphens, such as rate-too-high"):
        skeleton(id_, family)
