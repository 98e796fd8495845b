"""YAML is parsed where data is not compiled, and only there (test_loading.py has the refusals)."""

import os
import subprocess
import sys
from pathlib import Path

from loganalyst.rulefiles.parsing import MAX_DEPTH, parsed


def test_every_node_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: 1\nb:\n  - x\n  - {c: 2}\n")
    file = parsed(tmp_path / "x.yaml")

    assert file.data == {"a": 1, "b": ["x", {"c": 2}]}
    assert file.known_lines == {(): 1, ("a",): 1, ("b",): 3, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4}


def test_the_deepest_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("[" * MAX_DEPTH + "]" * MAX_DEPTH)

    assert str(parsed(tmp_path / "x.yaml").data) == "[" * MAX_DEPTH + "]" * MAX_DEPTH


def test_a_start_with_compiled_data_does_not_load_the_library(tmp_path: Path) -> None:
    """The second process finds the catalogue that the first one kept."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(99)))
    code = f"""
import atexit, sys
atexit.register(lambda: print("yaml" in sys.modules, file=sys.stderr))
from loganalyst.cli import main
main(["diagnose", "--exit-zero", {str(tmp_path / "run")!r}])
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    said = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    ]

    assert said == ["True\n", "False\n"]
