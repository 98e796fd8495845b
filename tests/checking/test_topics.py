"""Every check of `rules/settings/`: its own tests, its sources, and faults of such files."""

import re

import pytest

from loganalyst import rulefiles
from loganalyst.checking.judging import judge
from loganalyst.checking.topics import FOLDER, facts, looked_up, read_topics, topics
from loganalyst.errors import RuleError
from loganalyst.features.settingnames import setting_names
from loganalyst.pipeline import catalogue

CASES = [(topic.id, check, test) for topic in topics() for check in topic.checks for test in check.tests]
CHECKS = [check for topic in topics() for check in topic.checks]


def test_a_check_finds_what_its_tests_say():
    """Each check has a finding and a silent or usual case of its own."""
    known = facts().keys()
    found = [(topic, check.id, test, test.facts.keys() - known, answer(check, test)) for topic, check, test in CASES]

    assert len(found) > 200
    assert [case for case in found if case[3] or case[4] != case[2].found] == []


def answer(check, test):
    """What a check answers to the facts of a test."""
    return {one.check.id: one.answer for one in judge(test.facts)}[check.id]


def test_a_check_is_tested_both_ways():
    """A check that cannot fail, or cannot be silent, is a defect."""
    found = {check.id: {test.found for test in check.tests} for check in CHECKS}

    assert [id_ for id_, each in found.items() if not each & {"wrong", "unusual", "record"}] == []
    assert [id_ for id_, each in found.items() if not each & {"silent", "usual"}] == []


def test_without_facts_every_check_is_silent():
    """Not known is not judged."""
    assert {one.answer for one in judge({})} == {"silent"}


def test_ids_are_unique():
    """An id names one check."""
    ids = [check.id for check in CHECKS]

    assert len(ids) == len(set(ids)) >= 70


def test_the_usual_range_lies_within_the_possible_one():
    """A usual value is never wrong."""
    ranges = {c.id: (c.possible[0], *c.usual, c.possible[1]) for c in CHECKS if c.possible}

    assert len(ranges) > 20
    assert {id_: ends for id_, ends in ranges.items() if [*ends] != sorted(ends)} == {}


def test_every_setting_is_asked_for():
    """A setting that nothing asks about is dead."""
    code = "\n".join(path.read_text() for path in (rulefiles.rules_dir().parent / "loganalyst/checking").glob("*.py"))
    asked = {name for check in CHECKS for ask in (check.when, check.ask) if ask for name in ask.features}
    asked |= {check.of for check in CHECKS} | set(re.findall(r'"([a-z0-9_]+)"', code))
    asked |= {f"batch_{name}" for name in ("global", "per_device", "plain")}
    asked |= {f"warmup_{name}" for name in ("steps", "ratio", "epochs")} | {"bf16_on", "fp16_on"}

    assert looked_up().keys() - asked == set()


def test_notes_that_say_the_same_exist():
    """Otherwise a diagnosis would say it twice."""
    assert {id_ for check in CHECKS for id_ in check.said_by} - {*catalogue().notes} == set()


def test_every_source_is_cited():
    """A source that no check cites is dead."""
    listed = {entry["url"] for entry in rulefiles.load(rulefiles.rules_dir() / FOLDER / "sources.yaml").data.values()}
    cited = {source.url for check in CHECKS for source in check.sources}

    assert listed - cited == set()


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ("usual: [2, 512]", "a check has either a range or a question"),
        (
            "sources: [hu-2021, schulman-2025, biderman-2024]",
            "an entry of sources is 'hu-2121'; did you mean 'hu-2021'?",
        ),
        ("of: adapter_rank", "of is 'adapter_rnk'; did you mean 'adapter_rank'?"),
    ],
)
def test_a_faulty_file_is_refused_with_its_line(tmp_path, changed, fault):
    """The message has file, line and the nearest valid name."""
    written = {
        "usual: [2, 512]": "",
        "of: adapter_rank": "of: adapter_rnk",
        "sources: [hu-2021, schulman-2025, biderman-2024]": "sources: [hu-2121]",
    }
    for path in rulefiles.yaml_files(rulefiles.rules_dir() / FOLDER):
        text = path.read_text(encoding="utf-8")
        text = text.replace(f"\n    {changed}\n", f"\n    {written[changed]}\n".replace("\n    \n", "\n"), 1)
        (tmp_path / FOLDER).mkdir(exist_ok=True)
        (tmp_path / FOLDER / path.name).write_text(text, encoding="utf-8")

    with pytest.raises(RuleError, match=re.escape(fault)) as error:
        read_topics(tmp_path / FOLDER)

    assert "adapters.yaml:" in str(error.value)


def test_planned_steps_are_looked_up_as_features_do():
    """One list of keys in `rules/configured.yaml`."""
    assert looked_up()["steps_planned"].keys == setting_names().planned_steps


def test_a_setting_without_keys_is_refused(tmp_path):
    """Neither keys of its own nor a list."""
    folder = rulefiles.rules_dir() / FOLDER
    (tmp_path / "sources.yaml").write_text((folder / "sources.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    listed = (folder / "schedule.yaml").read_text(encoding="utf-8").replace("listed: planned_steps, ", "")
    (tmp_path / "schedule.yaml").write_text(listed, encoding="utf-8")

    with pytest.raises(RuleError, match=re.escape("'steps_planned' has no keys; keys, or listed")):
        read_topics(tmp_path)
