"""Lines in which trainers say how they ended, and the texts that show which trainer it is."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.patterntraits import having
from loganalyst.sources.text.patterns import catalogue, trainerlines, userpatterns
from loganalyst.trainerfiles import trainer_files

FACTS = "title: Ours\nsource: ours\nkind: any\n"


def own(folder: Path, text: str) -> userpatterns.OwnPatterns:
    (folder / "trainers").mkdir()
    (folder / "trainers" / "ours.yaml").write_text(FACTS + text)
    return userpatterns.find([folder])


@pytest.mark.parametrize(
    ("line", "trait", "part"),
    [
        ("`Trainer.fit` stopped: `max_steps=100` reached.", "finished", "end"),
        ("Did not meet early stopping. Best iteration is:", "finished", "end"),
        ("Time limit reached. Elapsed time is 1 day, 0:00:03. Signaling Trainer to stop.", "planned_stop", "end"),
        ("Early stopping, best iteration is:", "early_stop", "end"),
        ("Epoch 00014: early stopping", "early_stop", "end"),
    ],
)
def test_a_line_has_the_meaning_of_the_pattern_with_its_trait(line: str, trait: str, part: str) -> None:
    (claimed,) = catalogue.match(pl.Series([line]), catalogue.catalogue())["pattern"]

    assert claimed in having(trait)
    assert {p.part for p in catalogue.catalogue() if p.id == claimed} == {part}


def test_every_line_of_a_trainer_has_an_example_that_it_claims() -> None:
    for line in trainerlines.lines(trainer_files()):
        named = {p.id: p for p in catalogue.catalogue()}
        pattern = catalogue.of_trainer(line, named)
        assert catalogue.match(pl.Series([line.example]), [pattern]).height == 1, line.place.where


def test_a_users_lines_apply(tmp_path: Path) -> None:
    mine = own(tmp_path, "witnesses: {lines: {hello ours: 1}}\nends: [{line: bye (ours), text: bye (ours)}]\n")

    (claimed,) = catalogue.match(pl.Series(["bye (ours)"]), userpatterns.known(mine))["pattern"]
    assert claimed in having("finished")
    assert "hello ours" in userpatterns.also(mine, ()).once
    assert "hello ours" not in trainerlines.witnesses(trainer_files())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{line: bye, text: bye, regex: 'by(?=e)'}", "ours.yaml:5: not a regex: "),
        ("{line: bye, text: adieu}", "ours.yaml:5: the example 'bye' does not match"),
        ("{line: bye, text: bye, regex: '^adieu'}", "ours.yaml:5: the example 'bye' does not match"),
    ],
)
def test_a_users_line_that_is_wrong_is_left_out(tmp_path: Path, text: str, message: str) -> None:
    mine = own(tmp_path, f"witnesses: {{}}\nends: [{text}]\n")

    (fault,) = userpatterns.faults(mine)
    assert message in str(fault)
    assert userpatterns.known(mine) == catalogue.catalogue()
