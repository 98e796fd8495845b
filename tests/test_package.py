"""What a user installs: the built wheel has the rules, and starts without any development package."""

import ast
import email
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import loganalyst
from loganalyst.diagnosis.catalogueentries import FOLDERS_WITHOUT_RULES

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[1]
MODULES = {"pyyaml": "yaml", "backports.zstd": "backports"}  # whose name is not the distribution's


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    pytest.importorskip("hatchling", reason="the build back end is not installed")
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_has_the_rules_and_nothing_of_the_checkout(wheel: Path) -> None:
    """Rules are package data; tests and fixtures stay out."""
    names = zipfile.ZipFile(wheel).namelist()
    rules = {n.removeprefix("loganalyst/") for n in names if n.startswith("loganalyst/rules/")}

    yaml = {p.relative_to(ROOT).as_posix() for p in (ROOT / "rules").rglob("*.yaml")}
    assert rules == {*yaml, "rules/compiled.msgpack"}
    assert {n.split("/")[0].split("-")[0] for n in names} == {"loganalyst", "loganalyst_ml"}


def test_the_wheel_has_the_style_and_the_script_of_the_page(wheel: Path) -> None:
    """They are package data too."""
    names = zipfile.ZipFile(wheel).namelist()

    assert {"loganalyst/report/common/html/style.css", "loganalyst/report/diagnosis/html/script.js"} <= {*names}


def test_the_wheel_has_the_diagnostic_scripts(wheel: Path) -> None:
    """`loganalyst script` hands them out from where it is installed."""
    names = zipfile.ZipFile(wheel).namelist()

    assert {f"loganalyst/scripts/{f.name}" for f in (ROOT / "loganalyst/scripts").glob("*.py")} <= {*names}


def test_the_installed_package_diagnoses(wheel: Path, tmp_path: Path) -> None:
    """Unpacked far from the checkout the package finds its rules."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    run = tmp_path / "metrics.csv"
    run.write_text("step,loss\n" + "".join(f"{i},{'nan' if i > 50 else 1 / (i + 1)}\n" for i in range(99)))
    code = f"import loganalyst as la; print(la.__file__, la.diagnose({str(run)!r}).causes[0].label)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == [str(tmp_path / "site/loganalyst/__init__.py"), "nan_loss"]


def test_the_installed_package_uses_its_compiled_rules(wheel: Path, tmp_path: Path) -> None:
    """It writes no cache. Where its YAML was changed, the YAML counts."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    run = tmp_path / "metrics.csv"
    run.write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(99)))
    code = (
        "import yaml; yaml.CSafeLoader = yaml.SafeLoader = None;"  # parsing any YAML fails
        "from loganalyst import rulecatalogue, rulefiles; from loganalyst.curves import trainers;"
        "print(len(rulecatalogue.catalogue().rules), len(trainers.trainers()), len(rulefiles.compiled().files))"
    )
    counted = _said(tmp_path, code)
    diagnose = f"import loganalyst.cli as c; c.main(['diagnose', {str(run)!r}])"
    _said(tmp_path, diagnose)
    kept = sorted((tmp_path / "cache").rglob("*"))
    rule = tmp_path / "site/loganalyst/rules/optimisation/lr-too-high.yaml"
    rule.write_text(rule.read_text().replace("prior: 0.", "prior: 0.0", 1))
    changed = _said(tmp_path, "from loganalyst import rulefiles; print(rulefiles.compiled())")

    yaml = sorted((ROOT / "rules").rglob("*.yaml"))
    without_rules = {ROOT / "rules", *(ROOT / "rules" / name for name in FOLDERS_WITHOUT_RULES)}
    families = {path.parent for path in yaml} - without_rules
    rules = [path for path in yaml if path.parent in families]
    trainers = [path for path in yaml if path.parent.name == "trainers"]
    assert counted.split() == [str(len(rules)), str(len(trainers)), str(len(yaml))]
    assert kept == []
    assert changed == "None\n"


def _said(folder: Path, code: str) -> str:
    """What the package unpacked in `folder` prints."""
    environment = {"PYTHONPATH": str(folder / "site"), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_the_version_is_that_of_the_distribution() -> None:
    """Pip knows the package as `loganalyst-ml`; a checkout that was not installed has no version, and works."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    code = "import loganalyst as la; print(la.DISTRIBUTION, la.__version__)"
    bare = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert stated["name"] == loganalyst.DISTRIBUTION
    assert loganalyst.__version__ in (stated["version"], "0.0.0+unknown")
    assert bare.stdout.split() == [stated["name"], "0.0.0+unknown"]  # -S: no site packages, so nothing is installed


def test_the_wheel_is_named_as_pip_will_ask_for_it(wheel: Path) -> None:
    """And it states where it comes from, its licence, and the Pythons it is for."""
    told = email.message_from_bytes(
        zipfile.ZipFile(wheel).read(f"{'-'.join(wheel.name.split('-')[:2])}.dist-info/METADATA")
    )

    assert (told["Name"], told["License-Expression"]) == ("loganalyst-ml", "Apache-2.0")
    assert {line.split(",")[0] for line in told.get_all("Project-URL")} == {"Changelog", "Documentation", "Source"}
    assert "Programming Language :: Python :: 3.11" in told.get_all("Classifier")


def test_what_is_installed_is_what_is_used() -> None:
    """Each dependency is imported somewhere in the package, and what is imported comes with one of them or an extra."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for name, lines in stated["optional-dependencies"].items() if name != "test" for line in lines]
    needed, offered = (
        {MODULES.get(n := name(line), n) for line in lines} for lines in (stated["dependencies"], extras)
    )
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "loganalyst").rglob("*.py")]
    used = {module for tree in trees for module in imported(tree)} - {*sys.stdlib_module_names, "loganalyst"}

    assert needed - used == set()
    assert used - needed - offered - {"compression"} == {"anyio", "pydantic"}  # of Python 3.14; these come with mcp


def name(requirement: str) -> str:
    """Of `hyperscan>=0.7.8; …`: hyperscan."""
    return re.split(r"[^\w.-]", requirement)[0].replace("-", "_")


def imported(tree: ast.AST) -> Iterator[str]:
    """The first word of each module that is imported anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]
