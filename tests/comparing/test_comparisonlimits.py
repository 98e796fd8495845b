"""`rules/comparing.yaml` is checked when it is read."""

import pytest

from loganalyst import rulefiles
from loganalyst.comparing.comparisonlimits import limits
from loganalyst.errors import RuleError


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("{factor: 1.5", "{factor: -1", ":25: factor is -1; a number above 0"),
        ("unrelated_share: 0.1 ", "unrelated_share: 1.5 ", ":13: unrelated_share is 1.5; a share above 0, at most 1"),
        ("kinds: [objective", "kinds: [objectiv", ":9: an entry of kinds is 'objectiv'; did you mean 'objective'?"),
        ("vague: [name", "vague: name #", ":10: vague is a str; a list is needed"),
        ("groups: 4, ", "", ":28: missing groups; required are groups, runs"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(old, new, what, tmp_path):
    text = (rulefiles.rules_dir() / "comparing.yaml").read_text()
    (tmp_path / "comparing.yaml").write_text(text.replace(old, new))

    with pytest.raises(RuleError) as error:
        limits(tmp_path)
    assert old in text
    assert f"comparing.yaml{what}" in str(error.value)
