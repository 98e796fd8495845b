"""`loganalyst check` on the command line: what it prints, its exit codes, and the pages on settings."""

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest

from loganalyst import cli
from loganalyst.report.check.schema import schema

DOCS = Path(__file__).parents[1] / "docs"


def run(*arguments: object) -> int:
    """The exit code of the command line, called in this process."""
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    return int(stop.value.code or 0)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("config.yaml", "lr: 1.0e-3\noptimizer: adamw\n", 0),
        ("config.toml", "lr = 0.001\nadam_epsilon = 1e-16\noptimizer = 'adamw'\n", 0),
        ("training_args.json", '{"fp16": true, "bf16": true}', 1),
        ("adapter_config.json", '{"peft_type": "LORA", "r": 8, "lora_alpha": 0, "lora_r": 8}', 1),
        ("args.txt", "Namespace(fp16=True, bf16=True, lr=0.001)\n", 1),
        ("config.ini", "[train]\nfp16 = true\nbf16 = true\n", 1),
    ],
)
def test_the_exit_code_says_whether_a_setting_is_wrong(tmp_path, name, text, code):
    (tmp_path / name).write_text(text)

    assert run("check", tmp_path / name) == code


def test_what_is_missing_or_misspelt_is_a_misuse(tmp_path, capsys):
    (tmp_path / "config.yaml").write_text("lr: 1\n")

    assert run("check", tmp_path / "gone.yaml") == 2
    assert run("check", tmp_path / "config.yaml", "--kind", "pretrainin") == 2
    assert "did you mean 'pretraining'?" in capsys.readouterr().err


def test_json_fits_its_schema(tmp_path, capsys):
    (tmp_path / "config.yaml").write_text("lr: 1.0e-3\noptimizer: adamw\neps: 1.0e-16\n")
    assert run("check", tmp_path, "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)

    jsonschema.validate(data, schema())
    assert [finding["id"] for finding in data["findings"]] == ["epsilon-range"]


def test_markdown_goes_to_a_file(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/config.yaml").write_text("lr: 1.0e-3\noptimizer: adamw\n")
    assert run("check", tmp_path / "run", "--format", "markdown", "-o", tmp_path / "found.md") == 0

    assert (tmp_path / "found.md").read_text().startswith("# Nothing wrong or unusual among 1 setting")


def test_the_pages_on_settings_are_current():
    """docs/knowledge is what `python docs/generate_knowledge.py` writes."""
    spec = importlib.util.spec_from_file_location("generate_knowledge", DOCS / "generate_knowledge.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "knowledge").glob("*.md")}

    stale = [name for name, page in module.pages().items() if found.get(name) != page]
    assert (stale, found.keys() - module.pages().keys()) == ([], set())
