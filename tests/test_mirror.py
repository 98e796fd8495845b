"""The tests mirror the package: a module is tested in the file of its name."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "loganalyst"
DATA = {  # declarations only: what uses them is tested
    "diagnosis/ruleentries.py",
    "model/baseline.py", "model/causes.py", "model/features.py", "model/labels.py", "model/run.py",
    "model/signals.py", "model/trainingkinds.py", "model/verification.py", "report/common/rows.py",
    "sources/files/readmark.py", "sources/text/metrics/countedwords.py",
    "sources/text/metrics/shapenumber.py", "sources/text/sizes.py", "store/outcome.py",
}  # fmt: skip
ELSEWHERE = {
    "mcp/answer.py": "tests/mcp/test_tools.py",  # through the tools that call them
    "mcp/manyruns.py": "tests/mcp/test_tools.py",
    "mcp/onerun.py": "tests/mcp/test_tools.py",
    "mcp/quoted.py": "tests/mcp/test_tools.py",
    "mcp/server.py": "tests/mcp/test_tools.py",
    "patterntraits.py": "tests/test_policy.py",
}


def modules() -> list[str]:
    """Every module but `__init__`, `__main__` and the commands, which are tested by what they print."""
    paths = (path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py")))
    return [path for path in paths if not Path(path).name.startswith("__") and not path.startswith("cli/")]


def test_every_module_has_a_test_of_its_name() -> None:
    tested = [Path(module) for module in modules() if module not in DATA]
    needed = [ELSEWHERE.get(p.as_posix(), f"tests/{p.parent.as_posix()}/test_{p.name}") for p in tested]

    assert len(needed) > 600
    assert [test for test in needed if not (ROOT / test).is_file()] == []


def test_what_is_exempt_exists() -> None:
    assert {*DATA, *ELSEWHERE} - set(modules()) == set()
