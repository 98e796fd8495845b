"""The command line: what it prints where, and with which exit code."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import loganalyst
from loganalyst import cli, pipeline
from loganalyst.contextfile import Case
from loganalyst.errors import RuleError, SourceError
from loganalyst.model import Cause, Diagnosis, Restart, RestartVerdict, Run
from loganalyst.report.diagnosis.schema import schema
from tests.commandline import called

DOCS = Path(__file__).parents[1] / "docs"
FAILED = Path(__file__).parents[1] / "fixtures" / "runs" / "nan-lr"
PROGRAM = [sys.executable, "-m", "loganalyst.cli"]


def run(*arguments: str) -> int:
    """The exit code of the command line, called in this process."""
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    return int(stop.value.code or 0)


def program(*arguments: str, **options) -> subprocess.CompletedProcess:
    """The command line as a process of its own."""
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, check=False, **options)


@pytest.fixture
def answer(monkeypatch):
    """Lets the pipeline answer what a test says, and notes what it was asked."""
    asked = {}

    def give(*found: Diagnosis):
        def diagnose_paths(paths, **options):
            asked.update(options, paths=list(paths))
            return list(found)

        monkeypatch.setattr(pipeline, "diagnose_paths", diagnose_paths)
        return asked

    return give


def healthy(name: str = "good") -> Diagnosis:
    return Diagnosis(run=Run(path=Path(name), name=name, status="finished"), status="healthy", confidence=0.9)


def sick(name: str = "bad") -> Diagnosis:
    cause = Cause("c", "other", "A cause", "error", 0.8, "medium", "likely", "s", "m", (), ())
    return replace(healthy(name), status="diagnosis_complete", causes=(cause,))


def again(verdict: RestartVerdict) -> Diagnosis:
    """A run that was broken off, with a verdict on a restart."""
    return replace(sick(), restart=Restart(verdict, "because", "own-code", "lr-too-high", 0.9, (), 1, ()))


def unread(name: str = "gone") -> Diagnosis:
    return pipeline.unreadable(Path(name), SourceError(name, "no such file or directory", "a run or a log is needed"))


@pytest.mark.parametrize(
    ("found", "options", "code"),
    [
        ([healthy()], [], 0),
        ([sick()], [], 1),
        ([sick()], ["--exit-zero"], 0),
        ([healthy(), sick()], [], 1),
        ([unread()], [], 2),
        ([healthy()], ["--exit-restart"], 0),
        ([again("restart")], ["--exit-restart"], 10),
        ([again("restart_elsewhere")], ["--exit-restart"], 11),
        ([again("do_not_restart")], ["--exit-restart"], 12),
        ([healthy(), again("unknown")], ["--exit-restart", "--exit-zero"], 13),
        ([unread()], ["--exit-restart"], 2),
        ([unread()], ["--exit-zero"], 2),
        ([unread(), healthy()], [], 2),
        ([unread(), sick()], [], 1),
        ([replace(sick(), causes=(replace(sick().causes[0], verdict="possible"),))], [], 0),
    ],
)
def test_exit_codes(answer, found, options, code):
    """0 nothing found, 1 a likely cause in any run, 2 something named could not be read and no cause is likely."""
    answer(*found)

    assert run("diagnose", "x", *options) == code


def test_reports_go_to_stdout_and_complaints_to_stderr(answer, capsys):
    """Of two paths one is reported; the other has one line on stderr that says what is allowed."""
    answer(healthy(), unread())
    run("diagnose", "good", "gone")

    out, err = capsys.readouterr()
    assert out.startswith("✓ good   Healthy")
    assert err == "loganalyst: gone: no such file or directory; a run or a log is needed\n"


def test_json_is_an_object_for_one_path_and_a_list_for_several(answer, capsys):
    """Unreadable paths are in the list too."""
    answer(healthy())
    run("diagnose", "a", "--format", "json")
    assert json.loads(capsys.readouterr().out)["status"] == "healthy"

    answer(healthy(), unread())
    run("diagnose", "a", "b", "--format", "json")
    assert [d["status"] for d in json.loads(capsys.readouterr().out)] == ["healthy", "unreadable"]


def test_markdown_reports_follow_one_another(answer, capsys):
    """Two runs give two titles with a rule between them."""
    answer(healthy("a"), sick("b"))
    run("diagnose", "a", "b", "--format", "markdown")

    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("# ") or line == "---"] == [
        "# a: Healthy: no symptom found",
        "---",
        "# b: A cause",
    ]


def test_output_file(answer, capsys, tmp_path):
    """-o writes the report there and nothing to stdout; a place that cannot be written is one clear line and code 2."""
    answer(sick())
    assert run("diagnose", "x", "-o", str(tmp_path / "r.md"), "--format", "markdown") == 1
    assert capsys.readouterr().out == ""
    assert (tmp_path / "r.md").read_text().startswith("# bad: A cause")

    assert run("diagnose", "x", "-o", str(tmp_path / "none" / "r.md")) == 2
    assert capsys.readouterr().err == (
        f"loganalyst: {tmp_path}/none/r.md: cannot be written (No such file or directory); -o takes a file\n"
    )


def test_options_reach_the_pipeline(answer):
    """What is parsed is passed on, no more."""
    asked = answer(healthy())
    run("diagnose", "a", "b", "--symptom", "nan", "--symptom", "slow", "--config", "c", "--rules", "r", "--separate")

    assert asked == {
        "paths": [Path("a"), Path("b")],
        "symptoms": ["nan", "slow"],
        "config": Path("c"),
        "rules": [Path("r")],
        "trust_run_settings": False,
        "separate": True,
        "baseline": None,
        "history": [],
        "case": Case(),
    }


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            RuleError("x.yaml:3", "unknown key 'a'", "did you mean 'ask'?"),
            2,
            "x.yaml:3: unknown key 'a'; did you mean 'ask'?",
        ),
        (
            pl.exceptions.PanicException("oh"),
            3,
            "internal error: PanicException: oh; LOGANALYST_DEBUG=1 shows the traceback",
        ),
        (ZeroDivisionError("oh"), 3, "internal error: ZeroDivisionError: oh; LOGANALYST_DEBUG=1 shows the traceback"),
        (SourceError("a\x1b[31m", "no"), 2, "a: no"),
    ],
)
def test_errors_are_one_line(monkeypatch, capsys, error, code, line):
    """Errors name themselves in one line without a traceback, and cannot write escapes to the terminal."""

    def fail(*_args, **_options):
        raise error

    monkeypatch.delenv("LOGANALYST_DEBUG", raising=False)
    monkeypatch.setattr(pipeline, "diagnose_paths", fail)

    assert run("diagnose", "x") == code
    assert capsys.readouterr().err == f"loganalyst: {line}\n"


def test_debug_shows_the_traceback(monkeypatch, capsys):
    """With LOGANALYST_DEBUG the place of an internal error is told."""

    def fail(*_args, **_options):
        raise ZeroDivisionError("oh")

    monkeypatch.setenv("LOGANALYST_DEBUG", "1")
    monkeypatch.setattr(pipeline, "diagnose_paths", fail)

    assert run("diagnose", "x") == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["diagnose"], ["diagnose", "--no-such", "x"], ["nonsense"], ["diagnose", "x", "--top", "9"]]
)
def test_wrong_usage(arguments, capsys):
    """Wrong usage is told on stderr, with code 2."""
    assert run(*arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: loganalyst" in err


def test_version(capsys):
    """--version prints name and version."""
    assert run("--version") == 0
    assert capsys.readouterr().out == f"loganalyst {loganalyst.__version__}\n"


def test_schema_is_json(capsys):
    """`schema` prints the published schema."""
    assert run("schema") == 0
    assert json.loads(capsys.readouterr().out)["$id"] == "loganalyst/diagnosis/1"


def test_rules_list_names_every_rule(capsys):
    """One line a rule: id, severity, title."""
    assert run("rules", "list") == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line.split()[0] for line in lines] == list(pipeline.catalogue().rules)


def test_rules_explain(capsys):
    """A rule is explained from its own file; an unknown id names the nearest."""
    assert run("rules", "explain", "lr-too-high") == 0
    out = capsys.readouterr().out
    for heading in ("# Learning rate too high", "## Why this happens", "## Evidence", "## Fix", "## References"):
        assert f"{heading}\n" in out

    assert run("rules", "explain", "lr-too-hig") == 2
    assert capsys.readouterr().err == "loganalyst: lr-too-hig: no such rule; did you mean 'lr-too-high'?\n"


def test_rules_check(capsys, tmp_path):
    """Our own rules are sound; a faulty one of the user's is told with its line, and the code is 2."""
    assert run("rules", "check") == 0
    assert capsys.readouterr().out.endswith("valid; 0 faults\n")

    (tmp_path / "mine.yaml").write_text("id: mine\ntitle: Mine\nnonsense: 1\n")
    assert run("rules", "check", str(tmp_path)) == 2
    assert "mine.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cli", "features"])
def test_a_generated_page_is_current(name):
    """docs/NAME.md is what `python docs/generate_NAME.py` writes."""
    spec = importlib.util.spec_from_file_location(f"generate_{name}", DOCS / f"generate_{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert module.PAGE.read_text(encoding="utf-8") == module.page()


@pytest.fixture(scope="module")
def losses(tmp_path_factory) -> Path:
    """A table of a loss that falls and then becomes NaN."""
    path = tmp_path_factory.mktemp("runs") / "metrics.csv"
    rows = [f"{i},{2.0 / (1 + i / 50)}" for i in range(300)] + [f"{i},nan" for i in range(300, 320)]
    path.write_text("step,loss\n" + "\n".join(rows) + "\n")
    return path


def test_a_real_run_from_file_to_report():
    """A failed run is diagnosed: code 1, a plain report in a pipe, JSON of the schema with the same cause."""
    told = program("diagnose", str(FAILED))
    data = json.loads(program("diagnose", str(FAILED), "--format", "json").stdout)

    assert told.returncode == 1, told.stderr
    assert b"\x1b" not in told.stdout
    assert data["root_causes"][0]["issue"] in told.stdout.decode()
    assert "nan-loss" in [s["id"] for s in data["symptoms"]]
    jsonschema.validate(data, schema())


@pytest.mark.parametrize("symptom", ["the loss went NaN", "nan-loss"])
def test_a_told_symptom_is_confirmed(losses, symptom):
    """What the user saw is checked against the logs."""
    data = json.loads(called("diagnose", losses, "--symptom", symptom, "--format", "json").out)

    assert data["summary"]["told_symptoms"][0]["seen"] is True


def test_a_stdout_without_unicode_gets_ascii():
    """A stdout in ASCII is never an error, and the report stays readable."""
    told = program("diagnose", str(FAILED), env={**os.environ, "PYTHONIOENCODING": "ascii"})

    assert told.returncode == 1, told.stderr
    assert told.stdout.isascii()
    assert b"\nx " in told.stdout


def test_a_closed_pipe_is_no_error():
    """A reader that stops early leaves no traceback and changes no exit code."""
    process = subprocess.Popen([*PROGRAM, "diagnose", str(FAILED)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait() == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["Sources", "metrics.csv", "Metrics", "train_loss", "320"]),
        (["--metric", "loss"], ["Statistics", "not finite  20", "step 319", "NaN"]),
        (["--features"], ["Known (", "train_loss_points", "Not known ("]),
        (["--features", "--format", "json"], ['"schema": "loganalyst/features/1"', '"name": "train_loss_points"']),
    ],
)
def test_show(losses, options, words):
    """`show` tells what was read, one metric, or the features."""
    told = called("show", losses, *options)

    assert told.code == 0, told.err
    for word in words:
        assert word in told.out


def test_show_has_json_for_features_only(losses, capsys):
    """Another layout without features is wrong usage, and the message says what to add."""
    assert run("show", str(losses), "--format", "json") == 2
    assert "json is a format of --features" in capsys.readouterr().err


def test_show_names_the_nearest_metric(losses):
    """A wrong name gives one line with the nearest right one."""
    told = called("show", losses, "--metric", "los")

    assert told == (2, "", f"loganalyst: {losses}: no metric 'los'; did you mean 'loss'?\n")


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_show_plot(losses, tmp_path, suffix, start):
    """The picture is in the format of its suffix."""
    target = tmp_path / f"p.{suffix}"

    assert called("show", losses, "--plot", target).code == 0
    assert target.read_bytes().startswith(start)


def test_show_plot_refuses_another_suffix(losses, tmp_path):
    """An unknown suffix names the allowed ones."""
    told = called("show", losses, "--plot", tmp_path / "p.doc")

    assert told.code == 2
    assert told.err.endswith("unknown picture format '.doc'; allowed are .png, .svg, .pdf\n")


def test_nothing_readable(tmp_path):
    """A missing path and an empty directory are one clear line each, code 2."""
    for path in (tmp_path / "none", tmp_path):
        told = called("diagnose", path)

        assert (told.code, told.out) == (2, "")
        assert told.err.startswith(f"loganalyst: {path}: ")
        assert told.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["diagnose", "nowhere"], 2)])
def test_the_process_ends_with_its_code_after_what_was_to_be_done_at_its_end(arguments, code):
    ending = "import atexit, sys; atexit.register(print, 'at the end', file=sys.stderr); sys.argv[1:] = {}; "
    command = ending.format(arguments) + "from loganalyst.cli import program; program()"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.splitlines()[-1]) == (code, "at the end")
