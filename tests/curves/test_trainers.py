"""Every trainer is recognised by what it logs, and gives each metric the role that it has there."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from loganalyst.curves.trainers import Trainer, faults, known_roles, recognised, trainers
from loganalyst.model import Run, Source, table

Case = tuple[str, list[str], list[str], dict[str, str]]

GROUPS = sorted(path.stem for path in (Path(__file__).parent / "trainer_cases").glob("[!_]*.py"))
CASES: list[Case] = [case for group in GROUPS for case in import_module(f"tests.curves.trainer_cases.{group}").CASES]
FACTS = {"title": "Ours", "source": "our own script", "kind": "supervised"}

LOGS = Path(__file__).parents[1] / "sources/text/trainer_logs"  # what trainers print
DOCS = Path(__file__).parents[2] / "docs"


def run_of(metrics: Iterable[str], settings: Iterable[str] = (), files: Iterable[str] = ()) -> Run:
    names, keys = list(metrics), list(settings)
    return Run(
        points=table("points", {"session": 0, "metric": names, "step": 0, "value": 1.0, "source": "m.csv"}),
        config=table("config", {"key": keys, "value": ["1"] * len(keys), "number": [1.0] * len(keys)}),
        sources=tuple(Source(name, "csv", 1) for name in files),
    )


def write(folder: Path, name: str, text: str) -> Path:
    """A folder of rules that holds one trainer more."""
    (folder / "trainers").mkdir(exist_ok=True)
    facts = "\n".join(f"{key}: {value}" for key, value in FACTS.items())
    (folder / "trainers" / f"{name}.yaml").write_text(f"{facts}\n{text}\n")
    return folder


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)])
def test_recognised_with_its_roles(case: Case) -> None:
    name, settings, files, roles = case
    found = recognised(run_of(roles, settings, files))
    assert found is not None
    assert found.id == name
    assert {metric: role.name for metric, (role, _) in known_roles(found, roles).items()} == roles


def test_every_trainer_has_a_case() -> None:
    logs = {path.stem for path in LOGS.glob("*.yaml")}
    assert {t.id for t in trainers()} == {case[0] for case in CASES} | logs


@pytest.mark.parametrize("trainer", trainers(), ids=lambda trainer: trainer.id)
def test_no_common_name_recognises_a_trainer(trainer: Trainer) -> None:
    weights = trainer.witnesses["metrics"]
    assert all(weights.get(name, 0) < 0.3 for name in ("loss", "lr", "learning_rate", "epoch", "step", "accuracy"))


def test_the_page_of_trainers_is_current() -> None:
    spec = spec_from_file_location("generate_trainers", DOCS / "generate_trainers.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "trainers.md").read_text(encoding="utf-8") == module.page(), "run `python docs/generate_trainers.py`"


def test_nothing_recognised_by_common_names() -> None:
    assert recognised(run_of(["loss", "lr", "epoch", "val_loss", "accuracy", "grad_norm"])) is None


def test_trainer_preferred_to_those_that_it_extends(tmp_path: Path) -> None:
    write(tmp_path, "base", "witnesses: {metrics: {a: 2, b: 2}}\nmetrics: {a: reward, b: other}")
    write(tmp_path, "special", "extends: base\nwitnesses: {metrics: {c: 1}}\nmetrics: {b: entropy}")
    found = recognised(run_of(["a", "b", "c"]), [tmp_path])
    assert found is not None
    assert found.id == "special"
    assert {m: r.name for m, (r, _) in known_roles(found, ["a", "b", "c"]).items()} == {"a": "reward", "b": "entropy"}
    general = recognised(run_of(["a", "b"]), [tmp_path])
    assert general is not None
    assert general.id == "base"


def test_general_trainer_kept_without_a_witness_of_the_special_one(tmp_path: Path) -> None:
    write(tmp_path, "base", "witnesses: {metrics: {a: 1, b: 1}}")
    write(tmp_path, "special", "extends: base\nwitnesses: {metrics: {a: 0.5, b: 0.5, c: 1}}")
    found = recognised(run_of(["a", "b"]), [tmp_path])
    assert found is not None
    assert found.id == "base"


def test_own_folder(tmp_path: Path) -> None:
    witnesses = "witnesses: {settings: {ours: 0.6}, files: {ours.txt: 0.6}}"
    write(tmp_path, "ours", f"step: epoch\nprefixes: [log/]\n{witnesses}\nmetrics: {{q*: entropy}}")
    run = run_of(["log/q1", "z"], ["model.ours"], ["out/ours.txt"])
    assert recognised(run) is None
    found = recognised(run, [tmp_path])
    assert found is not None
    assert (found.id, found.step, found.kind) == ("ours", "epoch", "supervised")
    assert {m: (r.name, why) for m, (r, why) in known_roles(found, ["log/q1", "z"]).items()} == {
        "log/q1": ("entropy", "Ours logs it")
    }


def test_a_file_with_our_name_is_left_out_and_reported(tmp_path: Path) -> None:
    folders = (write(tmp_path, "nanogpt", "witnesses: {metrics: {x: 1}}"),)
    (fault,) = faults(folders)

    assert next(t for t in trainers(folders) if t.id == "nanogpt").title == "nanoGPT"
    assert "trainer 'nanogpt' exists already" in str(fault)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("witnesses: {}\nmetrics: {x: rewrad}", "did you mean 'reward'"),
        ("witnesses: {}\nextends: hf-trainr", "did you mean 'hf-trainer'"),
        ("witnesses: {}\nextends: ours", "a trainer cannot extend itself"),
        ("witnesses: {metrics: {x: 3}}", "a weight above 0, at most 2"),
        ("witnesses: {}\nkindd: any", "kindd"),
    ],
)
def test_faults_refused(tmp_path: Path, text: str, message: str) -> None:
    folders = (write(tmp_path, "ours", text),)
    (fault,) = faults(folders)

    assert message in str(fault)
    assert "ours.yaml" in str(fault)
    assert [t.id for t in trainers(folders)] == [t.id for t in trainers()]  # the others are kept


def test_circle_refused(tmp_path: Path) -> None:
    write(tmp_path, "one", "witnesses: {}\nextends: two")
    write(tmp_path, "two", "witnesses: {}\nextends: one")

    assert [error.allowed for error in faults((tmp_path,))] == ["a trainer cannot extend itself"] * 2
