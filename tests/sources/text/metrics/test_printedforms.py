"""Forms that trainers explain, ours and the user's."""

from pathlib import Path

import pytest

from loganalyst.rulefiles import RuleFile
from loganalyst.sources.text.metrics import printedforms
from loganalyst.sources.text.metrics.printedforms import PrintedForm
from loganalyst.sources.text.patterns import userpatterns

SLOT = "\x00"


@pytest.mark.parametrize(
    ("form", "plain"),
    [
        (f"Score at iteration {SLOT} is {SLOT}", f"iteration {SLOT} loss = {SLOT}"),
        (f"{SLOT}: learn: {SLOT} test: {SLOT} best: {SLOT} ({SLOT})", f"[{SLOT}] learn: {SLOT}, test: {SLOT}"),
        (f"DEBUG TRAIN Batch {SLOT}/{SLOT} loss {SLOT}", f"DEBUG TRAIN epoch {SLOT} batch {SLOT} loss {SLOT}"),
        (f"step {SLOT} loss {SLOT}", None),
    ],
)
def test_forms_of_trainers_are_put_in_plain_words(form: str, plain: str | None) -> None:
    assert printedforms.in_plain_words(form) == plain


def test_no_number_is_added() -> None:
    """Each number of the plain words must be one of the line."""
    place = RuleFile(Path("a.yaml"), {}, {}).place("prints", 0)
    assert printedforms._replaced(f"a {SLOT}", PrintedForm("a ", f"a {SLOT}", f"b {SLOT} {SLOT}", place)) is None


def test_a_users_form_applies_within_its_folder(tmp_path: Path) -> None:
    (tmp_path / "trainers").mkdir()
    entry = "{line: 'E 3 L 0.5', text: ' L ', regex: '^E # L #', as: 'epoch # loss #', reads: {loss: 0.5}, epoch: 3}"
    facts = "title: Ours\nsource: ours\nkind: any\nwitnesses: {}\n"
    (tmp_path / "trainers" / "ours.yaml").write_text(f"{facts}prints: [{entry}]\n")
    form = f"E {SLOT} L {SLOT}"

    assert printedforms.in_plain_words(form) is None
    with userpatterns.reading_with([tmp_path]):
        assert printedforms.in_plain_words(form) == f"epoch {SLOT} loss {SLOT}"
        assert " L " in printedforms.texts(userpatterns.here())
    assert printedforms.faults(userpatterns.find([tmp_path])) == ()
