"""Who may import whom, read from the syntax trees; and what the first steps of the program load."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "loganalyst"
FILES = sorted(PACKAGE.rglob("*.py"))
# Handed out as text and never imported by us, so that they import torch at their top as the user's own code does
TEMPLATES = [f for f in (PACKAGE / "scripts").glob("*.py") if f.name != "__init__.py"]

# A step may use an earlier step's output (types in model), never its functions; pipeline and cli pass things on
STEPS = {
    "model": {"report"},  # Diagnosis.to_*(), inside the methods
    "errors": set(),
    "progressbar": set(),
    "visibletext": set(),
    "limits": set(),
    "writing": {"errors"},  # files, whole or not at all
    "guard": {"errors", "model", "sources", "writing"},  # where none may be written
    "processes": {"limits"},
    "threads": {"limits"},
    "opening": set(),
    "rulefiles": {"errors", "writing"},
    "patterntraits": {"rulefiles"},
    "namewords": {"rulefiles"},
    "filemeasure": {"namewords"},
    "stackdoings": {"rulefiles"},
    "trainerfiles": {"errors", "model", "rulefiles"},
    "thresholds": {"errors", "rulefiles"},
    "settings": {"errors", "rulefiles"},
    "afterdiagnosis": {"diagnosis", "model", "rulecatalogue", "settings", "sources"},
    "store": {
        "rulefiles",
        "__version__",
        "errors",
        "features",
        "guard",
        "limits",
        "model",
        "opening",
        "pipeline",
        "processes",
        "settings",
        "sources",
        "writing",
    },  # reads what changed, and has it judged
    "anonymousfiles": set(),
    "anonymous": {
        "__version__",
        "anonymousfiles",
        "curves",
        "errors",
        "features",
        "model",
        "rulefiles",
        "sources",
        "trainerfiles",
        "namewords",
    },
    "query": {"errors", "store"},
    # many runs, or one against another
    "auditing": {
        "baseline",
        "errors",
        "guard",
        "limits",
        "model",
        "pipeline",
        "processes",
        "rulefiles",
        "store",
        "writing",
    },
    # many runs together, from their store
    "comparing": {"auditing", "baseline", "curves", "errors", "features", "limits", "model", "rulefiles", "store"},
    "sources": {
        "errors",
        "limits",
        "model",
        "opening",
        "patterntraits",
        "processes",
        "rulefiles",
        "stackdoings",
        "thresholds",
        "trainerfiles",
        "namewords",
        "filemeasure",
    },
    "signals": {"errors", "model", "rulefiles", "threads"},
    "curves": {
        "errors",
        "model",
        "patterntraits",
        "rulefiles",
        "threads",
        "thresholds",
        "trainerfiles",
        "namewords",
        "filemeasure",
    },
    "blame": {"errors", "model", "patterntraits", "rulefiles", "thresholds"},
    "features": {
        "blame",
        "curves",
        "errors",
        "model",
        "patterntraits",
        "rulefiles",
        "signals",
        "stackdoings",
        "threads",
        "thresholds",
    },
    "diagnosis": {"errors", "model", "rulefiles", "thresholds"},
    "baseline": {"errors", "model", "rulefiles", "signals"},
    "checking": {
        "diagnosis",
        "errors",
        "features",
        "model",
        "rulefiles",
        "thresholds",
    },  # settings against their ranges
    "contextfile": {"errors", "rulefiles"},
    "checkpoint": {"errors", "limits", "model", "opening", "rulefiles", "thresholds"},
    "replaying": {
        "checkpoint",
        "errors",
        "model",
        "opening",
        "pipeline",
        "progressbar",
    },  # lets checkpoints decide what logs suggest
    "report": {"__version__", "errors", "guard", "model", "visibletext", "writing"},
    "scripts": set(),  # templates, self-contained: text to us, code to those who asked for it
}
TYPES = {"comparing.comparisonresult"}  # types that a report describes, as it does those of model
# These may use every step; a new file is put here or into STEPS
PASS_ON = {
    "__init__",
    "cli",
    "evaluate",
    "mcp",
    "pipeline",
    "rulecatalogue",
}
LATE = {"torch", "dask", "distributed", "dask_jobqueue", "matplotlib", "scipy", "hyperscan", "mcp", "rich"}
NEVER = {"wandb", "tbparse", "tensorboard", "pandas", "ruptures"}


def name(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imported(file: Path) -> list[tuple[str, int]]:
    """`imports` of a whole file."""
    return list(imports(parsed(file)))


def imports(tree: ast.AST, *, top_only: bool = False) -> Iterator[tuple[str, int]]:
    """Every imported module (dotted) with its line; those for the type checker alone are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif not (top_only and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))):
            yield from imports(node, top_only=top_only)


def test_heavy_packages_are_imported_where_they_are_used():
    """Slow packages stand inside functions; those we only test against stand nowhere."""
    late = {file: LATE - {"torch"} if file in TEMPLATES else LATE for file in FILES}
    tops = [(name(f), *found) for f in FILES for found in imports(parsed(f), top_only=True) if root(found) in late[f]]
    never = [(name(f), *found) for f in FILES for found in imported(f) if root(found) in NEVER]

    assert len(FILES) > 700
    assert tops == []
    assert never == []


def root(found: tuple[str, int]) -> str:
    """The package of an imported module."""
    return found[0].split(".")[0]


def test_a_step_uses_no_other_steps_functions():
    """Each step imports itself and what STEPS allows it, nothing else of the package."""
    files = [(name(f).split("/")[0].removesuffix(".py"), f) for f in FILES]
    found = {(name(f), step): foreign(f, step) for step, f in files if step in STEPS}

    assert len(found) > 600
    assert {place: modules for place, modules in found.items() if modules} == {}


def foreign(file: Path, step: str) -> list[tuple[str, int]]:
    """What a file of a step imports of the package and may not."""
    own = [(m, line) for m, line in imported(file) if m.startswith("loganalyst.")]
    others = [(m, line) for m, line in own if m.split(".")[1] not in STEPS[step] | {step}]
    return [(m, line) for m, line in others if step != "report" or m.removeprefix("loganalyst.") not in TYPES]


@pytest.mark.parametrize("file", TEMPLATES, ids=name)
def test_a_script_needs_torch_and_the_standard_library_only(file):
    """It runs where loganalyst is not installed."""
    roots = {m.split(".")[0] for m, _ in imported(file)}

    assert roots - set(sys.stdlib_module_names) == {"torch"}


def test_nobody_imports_a_script():
    """They are templates: importing one would load torch."""
    modules = {f"loganalyst.scripts.{f.stem}" for f in TEMPLATES}
    found = [m for f in FILES for m, _ in imported(f)]

    assert [m for m in found if any(f"{m}.".startswith(f"{module}.") for module in modules)] == []


def test_every_part_has_its_place():
    """No file of the package escapes the rules above, and model reaches report inside its methods only."""
    parts = {name(f).split("/")[0].removesuffix(".py") for f in FILES}
    models = [parsed(f) for f in FILES if f.parent.name == "model"]

    assert parts - STEPS.keys() - PASS_ON == set()
    modules = [m for tree in models for m, _ in imports(tree, top_only=True) if m.startswith("loganalyst")]
    assert [m for m in modules if not m.startswith("loganalyst.model.")] == []


def test_no_source_imports_a_source_and_no_signal_a_signal():
    """Formats and signals stand alone; what two of them share has a file of its own. `__init__` puts them in order."""

    def kind(file: Path) -> str | None:
        """A source has `sniff` and `read`; a signal's function of its own name returns change points."""
        body = parsed(file).body
        functions = {n.name: ast.unparse(n.returns or n) for n in body if isinstance(n, ast.FunctionDef)}
        if file.parent.name == "sources" and {"sniff", "read"} <= functions.keys():
            return "source"
        return "signal" if file.parent.name == "signals" and functions.get(file.stem) == "list[ChangePoint]" else None

    kinds = {f: k for f in FILES if (k := kind(f))}
    found = {f"loganalyst.{f.parent.name}.{f.stem}": k for f, k in kinds.items()}
    clashes = [
        (name(file), module)
        for file, own_kind in kinds.items()
        for module, _ in imported(file)
        for other, other_kind in found.items()
        if f"{module}.".startswith(f"{other}.") and other_kind == own_kind
    ]

    assert clashes == []


@pytest.mark.parametrize("command", ["import loganalyst", "from loganalyst.cli import main; main(['--help'])"])
def test_the_first_steps_load_little(command):
    """Importing the package and asking for help load none of the slow packages."""
    slow = LATE | NEVER | {"polars", "numpy", "yaml"}
    code = f"""
import atexit, sys
atexit.register(lambda: print(sorted({slow!r} & set(sys.modules)), file=sys.stderr))
{command}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("file", sorted((PACKAGE / "cli").glob("*.py")), ids=name)
def test_the_command_line_imports_only_typer_at_its_top(file):
    """Beside the standard library, a command needs typer and the package's own errors and version."""
    roots = {m.split(".")[0] for m, _ in imports(parsed(file), top_only=True)} - set(sys.stdlib_module_names)

    assert roots <= {"typer", "loganalyst"}
