"""All scripts: listed, printed and written by the command."""

import ast
import json
import re
from pathlib import Path

import pytest

from loganalyst.scripts import summary, templates
from tests.scripts.commands import run

NAMES = [
    "activation_statistics",
    "codebook_statistics",
    "gradient_norms",
    "input_statistics",
    "loss_components",
    "memory",
    "one_batch_overfit",
    "parameter_shares",
]


def test_without_a_name_all_are_listed(capsys):
    assert run("script") == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line.split()[0] for line in lines] == NAMES
    assert lines[2] == "gradient_norms         Which layers get gradients, and how large they are."


def test_a_name_prints_the_script(capsys):
    assert run("script", "memory") == 0
    assert capsys.readouterr().out == templates()["memory"]


def test_a_script_is_written_and_never_over_a_file(tmp_path, capsys):
    file = tmp_path / "norms.py"
    assert run("script", "gradient_norms", "-o", file) == 0
    assert file.read_text() == templates()["gradient_norms"]

    file.write_text("mine")
    assert run("script", "gradient_norms", "-o", file) == 2
    assert file.read_text() == "mine"
    assert f"{file}: exists already; a script never replaces a file" in capsys.readouterr().err


def test_a_script_is_not_written_through_a_dangling_link(tmp_path):
    (tmp_path / "link.py").symlink_to(tmp_path / "elsewhere.py")

    assert run("script", "memory", "-o", tmp_path / "link.py") == 2
    assert not (tmp_path / "elsewhere.py").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gradient-norm"], "gradient-norm: no such script; did you mean 'gradient_norms'?"),
        (["zzz"], f"zzz: no such script; there are {', '.join(NAMES)}"),
        (["-o", "x.py"], "-o needs the NAME of a script"),
        (["memory", "-o", "no/such/folder.py"], "no/such/folder.py: cannot be written"),
    ],
)
def test_misuse_is_an_error(arguments, complaint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert run("script", *arguments) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_script_states_its_purpose_its_call_and_its_limits(name):
    text = templates()[name]
    help_ = ast.get_docstring(ast.parse(text))
    lines = help_.splitlines()

    assert 20 < len(summary(text)) < 100
    assert lines[1] == ""
    assert all(line.startswith("    ") for line in lines[2:5])
    assert help_.count("\nHealthy: ") == help_.count("\nSuspicious: ") == 1
    assert f"{name}(" in help_
    assert text.count("\n") <= 75


def test_the_scripts_that_rules_name_exist():
    """A rule must not send the reader to a missing script."""
    rules = (Path(__file__).parents[2] / "rules").rglob("*.yaml")
    named = {n for file in rules for n in re.findall(r"loganalyst script (\w+)", file.read_text(encoding="utf-8"))}

    assert named >= {"gradient_norms", "one_batch_overfit"}
    assert named <= {*NAMES}


def test_a_script_reports_that_nothing_is_suspicious(script, torch, model, capsys):
    script("parameter_shares")(model)

    assert capsys.readouterr().out.splitlines()[1:] == [
        f"{'0':<48} {40:>14} {'59.7%':>7}",
        f"{'2':<48} {27:>14} {'40.3%':>7}",
        f"{'total':<48} {67:>14} {'100.0%':>7}",
        f"{'embedding':<48} {0:>14} {'0.0%':>7}",
        f"{'frozen':<48} {0:>14} {'0.0%':>7}",
        "suspicious: nothing",
    ]


def test_a_script_returns_plain_data(script, torch, model):
    """A dict that JSON can carry, so that it can be logged as it is."""
    model(torch.randn(8, 4)).sum().backward()
    found = [script("gradient_norms")(model), script("parameter_shares")(model)]

    assert json.loads(json.dumps(found)) == found
