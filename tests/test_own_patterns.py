"""Patterns of log lines of one's own: checked, tested, and in force wherever a run is read."""

import re
from pathlib import Path

import pytest

from loganalyst import Store, diagnose, rulecatalogue
from loganalyst.sources.text.patterns import catalogue, userpatterns
from tests.commandline import called

PATTERN = """family: site
patterns:
  - id: licence-pool-empty
    label: config_error
    part: root
    literals: ["FLX-"]
    regex: '^FLX-(?P<code>\\d+): pool .* is empty'
    tests:
      match: ["FLX-4711: pool sim is empty"]
      no_match: ["FLX-4711: pool sim has 3 left"]
"""
LOG = "".join(f"step {i} loss {3 - i / 10:.2f}\n" for i in range(9)) + "FLX-12: pool cfd is empty\n"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "runs" / "rules" / "text" / "site.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(PATTERN)
    return tmp_path / "runs" / "rules"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "runs" / "a").mkdir(parents=True, exist_ok=True)
    (tmp_path / "runs" / "a" / "train.log").write_text(LOG)
    return tmp_path / "runs" / "a"


def causes(run: Path, **options: object) -> list[tuple[str, int | None]]:
    return [(cause.label, cause.line) for cause in diagnose(run, **options).causes]  # type: ignore[arg-type]


def test_a_line_that_only_the_user_knows_is_the_cause(run: Path, rules: Path) -> None:
    """Beside `--rules` the pattern claims its line; without, nothing is known of it, before and after."""
    assert causes(run) == []
    assert causes(run, rules=[rules]) == [("config_error", 10)]
    assert causes(run) == []


def test_settings_name_the_folder(run: Path, rules: Path) -> None:
    """`rules:` of a loganalyst.yaml above the run does as `--rules` does."""
    (run.parent / "loganalyst.yaml").write_text(f"rules: [{rules}]\n")

    assert causes(run) == [("config_error", 10)]


def test_a_faulty_pattern_is_left_out_and_told(run: Path, rules: Path) -> None:
    """The others of its file stay in force."""
    second = PATTERN.split("patterns:\n")[1].replace("licence-pool-empty", "second").replace("is empty'", "(?=x)'")
    with (rules / "text" / "site.yaml").open("a") as file:
        file.write(second)
    found = diagnose(run, rules=[rules])

    assert [cause.line for cause in found.causes] == [10]
    (fault,) = found.summary["faults"]
    assert re.search(r"(?s)site\.yaml:15: not a regex: .*look-around", fault)


@pytest.mark.parametrize("field", ["signal: SIGKILL", "says: [killed]"])
def test_fields_of_our_own_patterns_are_refused(run: Path, rules: Path, field: str) -> None:
    """They would have no effect there, and a field without an effect misleads."""
    (rules / "text" / "site.yaml").write_text(PATTERN.replace("    part: root\n", f"    part: root\n    {field}\n"))

    (fault,) = diagnose(run, rules=[rules]).summary["faults"]

    assert fault.endswith(f"site.yaml:6: {field.split(':', maxsplit=1)[0]} is for built-in patterns only; leave it out")


def test_the_commands_check_and_test_them(rules: Path) -> None:
    """`rules check` counts them, `rules test` runs their examples; a wrong example, or a fault, is told with exit 2."""
    sound = called("rules", "check", str(rules))
    assert sound.code == 0
    assert sound.out.endswith(f" symptoms and {len(catalogue.catalogue()) + 1} patterns are valid; 0 faults\n")
    (rules / "text" / "site.yaml").write_text(PATTERN.replace("root", "rooot"))
    faulty = called("rules", "check", str(rules))
    assert faulty.code == 2
    assert "site.yaml:5: part is 'rooot'; did you mean 'root'?" in faulty.err


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PATTERN, []),
        (PATTERN.replace("has 3 left", "is empty"), [("does not match 'FLX-4711: pool sim is empty'", "it does")]),
        (PATTERN.replace("[FLX-", "[FLY-").replace('["FLX-"]', '["FLY-"]'), [("none of its literals is in it")]),
        (PATTERN.replace("regex: '^FLX", "regex: '^FLY"), ["it does not"]),
    ],
    ids=["sound", "matches too much", "literal", "regex"],
)
def test_examples_of_own_patterns(rules: Path, text: str, found: list[object]) -> None:
    """Each example that fails says why."""
    (rules / "text" / "site.yaml").write_text(text)
    failed = [(test, why) for _, test, why in userpatterns.tested(userpatterns.find([rules])) if why]

    assert [pair if isinstance(want, tuple) else pair[1] for pair, want in zip(failed, found, strict=True)] == found


def test_a_store_reads_again_what_other_patterns_see(run: Path, rules: Path, tmp_path: Path) -> None:
    """New patterns, changed ones and corrections count as a change of the run; nothing new does not."""
    store = Store(tmp_path / "store")

    def labels() -> list[str | None]:
        return store.diagnoses.select("label").collect()["label"].to_list()

    assert (list(store.ingest([run.parent]).values()), labels()) == (["read"], [None])
    (run.parent / "loganalyst.yaml").write_text(f"rules: [{rules}]\n")
    assert (list(store.ingest([run.parent]).values()), labels()) == (["read"], ["config_error"])
    assert list(store.ingest([run.parent]).values()) == ["unchanged"]

    (run.parent / "loganalyst.yaml").write_text(f"rules: [{rules}]\nignore: [{{rule: config-error}}]\n")
    rulecatalogue._catalogue.cache_clear()
    assert list(store.ingest([run.parent]).values()) == ["read"]
    (rules / "text" / "site.yaml").write_text(PATTERN.replace("config_error", "filesystem"))
    assert list(store.ingest([run.parent]).values()) == ["read"]
    (run.parent / "loganalyst.yaml").unlink()
    assert (list(store.ingest([run.parent]).values()), labels()) == (["read"], [None])
