"""`loganalyst rules`: a rule of one's own from its skeleton to a diagnosis, and the pages of ours."""

import importlib.util
import json
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from loganalyst import pipeline
from loganalyst.cli import main
from loganalyst.errors import RuleError

DOCS = Path(__file__).parents[1] / "docs"
DIAGNOSED = cache(pipeline.diagnose)


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each healthy fixture is judged once for all tests of rules here, whose own rules it does not hear of."""
    monkeypatch.setattr(pipeline, "diagnose", DIAGNOSED)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


@pytest.mark.usefixtures("read_once")
def test_a_new_rule_is_sound_and_passes_its_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `rules new` writes is checked without a fault and tested without a failure."""
    assert run("rules", "new", "context-too-short", "--family", "mine", "-o", str(tmp_path)) == 0
    path = tmp_path / "mine/context-too-short.yaml"
    assert capsys.readouterr().out == f"{path}\n"

    assert run("rules", "check", str(tmp_path)) == 0
    assert capsys.readouterr().out.endswith("; 0 faults\n")
    outcomes = pipeline.rule_tests(["context-too-short"], [tmp_path])
    assert [o for o in outcomes if o.passed is False] == []
    assert {"fell, then stood still", "still falling"} < {o.test for o in outcomes}


def test_every_field_of_a_new_rule_is_explained(tmp_path: Path) -> None:
    """The skeleton has every field a rule may have, but for replays and one of the two lists of kinds."""
    from loganalyst.diagnosis.ruleentries import RuleEntry
    from loganalyst.rulefiles import load

    found = load(pipeline.new_rule("mine", folder=tmp_path)).data

    assert {*RuleEntry.__struct_fields__} - {"replay", "kinds"} == set(found)


@pytest.mark.parametrize(
    ("name", "family", "said"),
    [
        ("Mine", "own", "Mine: is no id of a rule; lower-case words with hyphens, such as rate-too-high"),
        ("../mine", "own", "../mine: is no id of a rule; "),
        ("mine", "../../own", "../../own: is no family of a rule; "),
        ("lr-too-high", "own", "lr-too-high: is a rule of ours; `loganalyst rules explain lr-too-high` shows it"),
    ],
)
def test_a_new_rule_needs_a_name_that_is_free(tmp_path: Path, name: str, family: str, said: str) -> None:
    """Names that are no plain words, or taken by us, are refused, and nothing is written."""
    with pytest.raises(RuleError) as error:
        pipeline.new_rule(name, family, tmp_path)

    assert str(error.value).startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second `rules new` of one name does not write over the first."""
    path = pipeline.new_rule("mine", folder=tmp_path)
    path.write_text("precious")

    assert run("rules", "new", "mine", "-o", str(tmp_path)) == 2
    assert capsys.readouterr().err.startswith(f"loganalyst: {path}: exists already; ")
    assert path.read_text() == "precious"


@pytest.mark.usefixtures("read_once")
def test_a_rule_of_ones_own_is_explained_and_tested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`explain` and `test` find it with --rules; without, the id is not known."""
    pipeline.new_rule("mine", folder=tmp_path)

    assert run("rules", "explain", "mine", "--rules", str(tmp_path)) == 0
    assert capsys.readouterr().out.startswith("# Too short a context for the data\n")
    assert run("rules", "test", "mine", "--rules", str(tmp_path)) == 0
    assert ", 0 failed," in capsys.readouterr().out
    assert run("rules", "test", "mine") == 2
    assert capsys.readouterr().err.startswith("loganalyst: mine: no such rule")


@pytest.mark.usefixtures("read_once")
def test_a_fault_in_a_rule_of_ones_own_is_told_by_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File, line, what was found and the nearest name that is allowed; the others are tested."""
    path = pipeline.new_rule("mine", folder=tmp_path)
    path.write_text(path.read_text().replace("severity: warning ", "severity: warnin "))
    line = 1 + path.read_text().split("\n").index("severity: warnin           # info, warning, error or critical")

    assert run("rules", "test", "lr-too-high", "--rules", str(tmp_path)) == 2
    assert capsys.readouterr().err == f"loganalyst: {path}:{line}: severity is 'warnin'; did you mean 'warning'?\n"


def test_explain_as_json_is_the_whole_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """Every field of the file, and the weights in force."""
    assert run("rules", "explain", "lr-too-high", "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    rule = pipeline.catalogue().rules["lr-too-high"]

    assert (data["id"], data["label"], data["tests"][0]["expect"]) == (
        "lr-too-high",
        "lr_too_high",
        {"verdict": "likely"},
    )
    assert [i["weight"]["if_true"] for i in data["evidence"]] == [i.if_true for i in rule.evidence]


def test_rules_of_ones_own_stand_beside_ours_in_a_diagnosis(tmp_path: Path) -> None:
    """--rules and `rules:` of loganalyst.yaml do the same; what is faulty is left out and told, quoted if named."""
    run_ = tmp_path / "run"
    run_.mkdir()
    rows = [f"{i},{max(2.0 - i / 200, 1.0) + 0.001 * (i % 7)}" for i in range(1000)]
    (run_ / "metrics.csv").write_text("step,loss\n" + "\n".join(rows) + "\n")
    good = pipeline.new_rule("mine", folder=tmp_path / "rules")
    (good.parent / "bad.yaml").write_text(
        good.read_text().replace("id: mine ", "id: bad  ").replace("plateau,", "platau,")
    )

    named = pipeline.diagnose(run_, rules=[tmp_path / "rules"])
    (tmp_path / "loganalyst.yaml").write_text("rules: [rules]\n")
    found = pipeline.diagnose(run_)

    for d, says in ((named, " symptoms names 'platau'; did you mean 'plateau'?"), (found, " is not valid")):
        assert "mine" in {*(c.id for c in d.causes), *(r.id for r in (*d.ruled_out, *d.not_supported, *d.unknown))}
        assert [f.partition("bad.yaml:")[2][3:] for f in d.summary["faults"]] == [says]


def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_rules", DOCS / "generate_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_the_rules_are_current() -> None:
    """docs/rules holds what the script writes, and nothing else."""
    module = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in module.FOLDER.glob("*.md")}
    wanted = module.pages()
    stale = sorted({name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)})

    assert stale == [], f"docs/rules is not current ({', '.join(stale)}): run `python docs/generate_rules.py`"


def test_every_rule_has_its_section_and_every_symptom_its_causes() -> None:
    """All ids stand as anchors on the page of their family, and the index links them."""
    module, known = pages(), pipeline.catalogue()
    written = module.pages()

    for rule in known.rules.values():
        assert f'<a id="{rule.id}"></a>' in written[f"{rule.family}.md"]
        assert f"]({rule.family}.md#{rule.id})" in written["index.md"]
    for symptom in known.symptoms:
        assert f"(`{symptom}`) | [" in written["index.md"]
