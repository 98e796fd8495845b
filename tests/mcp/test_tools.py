"""`loganalyst mcp`, asked by the client of the `mcp` package over stdio, as an agent asks it."""

import asyncio
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, Tool

from loganalyst import cli
from loganalyst.report.audit import schema as auditschema
from loganalyst.report.check import schema as checkschema
from loganalyst.report.diagnosis import schema
from loganalyst.report.diagnosis.brief import size
from loganalyst.report.verification import schema as verificationschema

pytestmark = pytest.mark.takes_long

RUNS = Path(__file__).parents[2] / "fixtures" / "runs"
OOM = "step 1 loss 2.1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n"
CODE = "def main():\n    optimiser = SGD(parameters, lr=0.5)\n"
# what is asked -> the tool and its arguments; {tmp} is a folder of the test
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "diagnose": ("diagnose", {"path": str(RUNS / "divergence-lr"), "code": ["{tmp}/train.py"], "symptoms": ["NaN"]}),
    "in full": ("diagnose", {"path": str(RUNS / "divergence-lr"), "detail": "full"}),
    "markdown": ("diagnose", {"path": str(RUNS / "divergence-lr"), "format": "markdown", "top": 1}),
    "missing": ("diagnose", {"path": "{tmp}/gone"}),
    "misspelt": ("diagnose", {"path": str(RUNS / "divergence-lr"), "symptom": ["x"]}),
    "too many": ("diagnose", {"path": str(RUNS / "divergence-lr"), "top": 9}),
    "audit": ("audit", {"paths": ["{tmp}/runs"], "top": 1}),
    "audit in full": ("audit", {"paths": ["{tmp}/runs"], "top": 1, "detail": "full"}),
    "screen": ("audit", {"paths": ["{tmp}/runs"], "format": "text"}),
    "compare": ("compare", {"paths": [str(RUNS / "divergence-lr"), str(RUNS / "healthy-mended-rate")]}),
    "tables": ("query", {"sql": "SHOW TABLES"}),
    "query": ("query", {"sql": "SELECT label FROM diagnoses ORDER BY label", "top": 1}),
    "check": ("check", {"path": "{tmp}/config.yaml"}),
    "check in full": ("check", {"path": "{tmp}/config.yaml", "kind": "fine-tuning", "format": "markdown"}),
    "no kind": ("check", {"path": "{tmp}/config.yaml", "kind": "finetuning"}),
    "show": ("show", {"path": str(RUNS / "divergence-lr")}),
    "metric": ("show", {"path": str(RUNS / "divergence-lr"), "metric": "val_acc"}),
    "no metric": ("show", {"path": str(RUNS / "divergence-lr"), "metric": "val_ac"}),
    "features": ("show", {"path": str(RUNS / "divergence-lr"), "features": "train_loss"}),
    "explain": ("explain", {"rule": "lr-too-high"}),
    "all ids": ("explain", {}),
    "all rules": ("explain", {"detail": "full"}),
    "no rule": ("explain", {"rule": "lr-to-high"}),
    "verify": ("verify", {"old": str(RUNS / "divergence-lr"), "new": str(RUNS / "healthy-mended-rate")}),
    "script": ("script", {"name": "gradient_norms"}),
    "no script": ("script", {"name": "gradient_norm"}),
    "no checkpoint": ("inspect", {"paths": ["{tmp}/train.py"]}),
}  # fmt: skip


@dataclass
class Talk:
    """One talk with the server: its tools, its answers, all it wrote to stdout, and the folder of the test."""

    tools: dict[str, Tool]
    answers: Mapping[str, CallToolResult]
    stdout: str
    folder: Path
    before: dict[Path, int]

    def text(self, asked: str) -> str:
        (content,) = self.answers[asked].content
        assert content.type == "text"
        return content.text

    def quoted(self, asked: str) -> str:
        """What stands between the two marks of a text."""
        _, mark, rest = self.text(asked).split("\n", 2)
        assert rest.endswith(f"\n{mark}\n")
        return rest.removesuffix(f"{mark}\n")


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Talk:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "train.py").write_text(CODE)
    (folder / "config.yaml").write_text("optimizer: adamw\nlora_r: 8\nlora_alpha: 16\nlearning_rate: 5.0e-3\n")
    for i in range(2):
        (folder / "runs" / f"job-{i}").mkdir(parents=True)
        (folder / "runs" / f"job-{i}" / f"slurm-90{i}.out").write_text(OOM)
    before = state(folder)
    return asyncio.run(talked(folder, before))


async def talked(folder: Path, before: dict[Path, int]) -> Talk:
    """Start the program in a shell that keeps what it writes to stdout, and ask everything."""
    program = f"{shlex.quote(sys.executable)} -m loganalyst.cli mcp --store {folder}-store | tee {folder}-stdout"
    answers = {}
    async with (
        stdio_client(StdioServerParameters(command="sh", args=["-c", program])) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        for asked, (tool, arguments) in ASKED.items():
            filled = json.loads(json.dumps(arguments).replace("{tmp}", str(folder)))
            answers[asked] = await session.call_tool(tool, filled)
    return Talk(tools, answers, Path(f"{folder}-stdout").read_text(encoding="utf-8"), folder, before)


def state(folder: Path) -> dict[Path, int]:
    return {p: p.stat().st_mtime_ns for p in folder.rglob("*")}


def test_the_tools_say_what_they_take(talk: Talk) -> None:
    """Each has a description of every argument, refuses others, and changes nothing (an audit: its store)."""
    assert list(talk.tools) == [
        "diagnose", "audit", "compare", "check", "show", "explain", "verify", "inspect", "script", "query",
    ]  # fmt: skip
    for name, tool in talk.tools.items():
        assert tool.description
        assert all("description" in argument for argument in tool.input_schema["properties"].values())
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name not in ("audit", "compare", "query"))
        assert tool.annotations.destructive_hint is False


def test_only_the_protocol_goes_to_stdout(talk: Talk) -> None:
    """Every line is a message."""
    messages = [json.loads(line) for line in talk.stdout.splitlines()]

    assert len(messages) >= len(ASKED) + 2
    assert {message["jsonrpc"] for message in messages} == {"2.0"}


def test_nothing_is_written_into_runs(talk: Talk) -> None:
    """The store is elsewhere, where the server was told."""
    assert state(talk.folder) == talk.before
    assert Path(f"{talk.folder}-store", "state.sqlite").exists()


def test_a_diagnosis_is_the_contract_shortened(talk: Talk) -> None:
    """The likeliest cause stands in it with its fix, and the line of the code that the fix changes."""
    found = talk.answers["diagnose"].structured_content
    assert found is not None
    whole = talk.answers["in full"].structured_content
    assert whole is not None
    jsonschema.validate(whole, schema.schema())

    assert found["root_causes"][0]["label"] == "lr_too_high"
    (place,) = found["root_causes"][0]["fix"][0]["places"]
    assert (place["file"], place["line"], place["value"]) == (str(talk.folder / "train.py"), 2, "0.5")
    assert found["summary"]["told_symptoms"][0]["text"] == "NaN"
    assert (found.keys() & {"ruled_out", "gaps"}, whole["gaps"]) == (set(), [])
    assert found["left_out"]["ruled_out"] == len(whole["ruled_out"]) + whole["left_out"]["ruled_out"]
    assert whole["analysis_artifacts"]["features"] == {}
    assert whole["left_out"]["analysis_artifacts.features"] > 100


def test_a_diagnosis_as_markdown(talk: Talk) -> None:
    """The report for people, and of the object only its head."""
    assert talk.quoted("markdown").startswith("# ")
    assert "## Cause 1: Learning rate too high" in talk.text("markdown")
    head = talk.answers["markdown"].structured_content
    assert head is not None
    assert (head["status"], {*head}) == ("diagnosis_complete", {"schema", "status", "confidence"})


def test_an_audit_is_the_contract_shortened(talk: Talk) -> None:
    """The worst run, the group of both, and how many there are of each kind."""
    found = talk.answers["audit"].structured_content
    assert found is not None
    jsonschema.validate(talk.answers["audit in full"].structured_content, auditschema.schema())

    assert [run["label"] for run in found["runs"]] == ["cuda_oom"]
    assert (found["counts"], found["left_out"]) == ({"diagnosis_complete": 2}, {"runs": 1})
    assert len(found["groups"][0]["members"]) == 2
    assert talk.quoted("screen").splitlines()[0] == "2 runs   ✗ 2 with a cause"


def test_what_was_read_is_shown(talk: Talk) -> None:
    """As text; a metric by itself; features as an object."""
    assert "val_acc" in talk.text("show")
    assert talk.quoted("metric").startswith("val_acc   val_accuracy")
    found = talk.answers["features"].structured_content
    assert found is not None
    assert {"train_loss" in feature["name"] for feature in found["features"]} == {True}


def test_an_answer_is_brief_and_nothing_is_sent_twice(talk: Talk) -> None:
    """Text and object together have at most 6,000 characters; the text is a summary."""
    sizes = {
        asked: len(talk.text(asked)) + (0 if answer.structured_content is None else size(answer.structured_content))
        for asked, answer in talk.answers.items()
        if asked not in ("in full", "audit in full", "all rules", "script")
    }

    assert {asked: size for asked, size in sizes.items() if size > 6000} == {}
    assert talk.quoted("diagnose").startswith("<Diagnosis of offline-run-")
    assert "96 %  lr-too-high" not in talk.text("diagnose")


def test_objects_have_a_published_outline(talk: Talk) -> None:
    """The client validates each answer by it; it names the fields of the schema and does not repeat the inside."""
    with_objects = {name for name, tool in talk.tools.items() if tool.output_schema is not None}

    assert with_objects == {"diagnose", "audit", "check", "compare", "verify"}
    outline = talk.tools["diagnose"].output_schema
    assert outline is not None
    assert {*outline["properties"]} == {*schema.schema()["properties"]}
    assert len(json.dumps(outline)) < 3300


def test_settings_are_checked(talk: Talk) -> None:
    """As an object, as a report, and with the nearest kind for a misspelt one."""
    found = talk.answers["check"].structured_content
    assert found is not None
    assert [finding["id"] for finding in found["findings"]] == ["rate-adapters"]
    assert {*found} <= {*checkschema.schema()["properties"]}
    assert talk.quoted("check in full").startswith("# 1 setting is unusual")
    assert "did you mean 'fine-tuning'?" in talk.text("no kind")


def test_runs_are_compared(talk: Talk) -> None:
    """An old and a new set, as `compare` does."""
    found = talk.answers["compare"].structured_content
    assert found is not None
    assert [run["status"] for run in found["runs"]] == ["healthy", "diagnosis_complete"]


def test_the_store_is_queried(talk: Talk) -> None:
    """The rows as a table between marks, and how many were not shown."""
    assert "diagnoses" in talk.quoted("tables")
    assert talk.quoted("query").splitlines()[-1] == "3 more rows"
    assert "cuda_oom" in talk.quoted("query")


def test_causes_are_explained(talk: Talk) -> None:
    """One in full, all of them in a line each, or their ids by family."""
    assert talk.text("explain").startswith("# Learning rate too high\n")
    assert "lr-too-high (critical): Learning rate too high\n" in talk.text("all rules")
    assert len(talk.text("all ids")) < 6000
    optimisation = next(line for line in talk.text("all ids").splitlines() if line.startswith("optimisation: "))
    assert "lr-too-high" in optimisation.removeprefix("optimisation: ").split(", ")


def test_a_fix_is_verified(talk: Talk) -> None:
    """By the contract of `verify`."""
    found = talk.answers["verify"].structured_content
    assert found is not None
    assert {*found} <= {*verificationschema.schema()["properties"], "left_out"}
    assert found["outcome"] == "fixed"


def test_a_script_is_handed_out(talk: Talk) -> None:
    """Its text as the package has it, to be written by whoever asks."""
    text = talk.text("script")

    assert "def gradient_norms(" in text
    compile(text, "gradient_norms.py", "exec")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("missing", "no such file or directory; a run directory, a log file or a SLURM log is needed"),
        ("misspelt", "symptom\n  Extra inputs are not permitted"),
        ("too many", "top\n  Input should be less than or equal to 5"),
        ("no metric", "no metric 'val_ac'; did you mean 'val_acc'?"),
        ("no rule", "lr-to-high: no such rule; did you mean 'lr-too-high'?"),
        ("no script", "gradient_norm: no such script; did you mean 'gradient_norms'?"),
        ("no checkpoint", "is not a checkpoint; a safetensors file"),
    ],
)
def test_faults_are_told(talk: Talk, asked: str, said: str) -> None:
    """As an error of the tool that says what is allowed."""
    assert talk.answers[asked].is_error
    assert said in talk.text(asked)


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2."""
    monkeypatch.setattr("loganalyst.cli.mcp.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        cli.main(["mcp"])

    assert ended.value.code == 2
    assert "needs the package mcp; `pip install '.[mcp]'` in a checkout" in capsys.readouterr().err
