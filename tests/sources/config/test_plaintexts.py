"""Settings in plain text."""

import pytest

from loganalyst.sources.config import plaintexts


def test_options():
    """Three ways of printing options; other lines are counted."""
    found = plaintexts.options("--lr: 0.1\nbatch_size = 32\nmodel ........ gpt2 [default: bert]\n! end\n")

    assert found.items == [("lr", "0.1"), ("batch_size", "32"), ("model", "gpt2")]
    assert found.why == "1 lines are not `name: value`"


def test_a_namespace():
    """Texts lose their quotes, other values keep their spelling; a call that is cut off gives nothing."""
    assert plaintexts.options("args: Namespace(lr=1e-3, name='run 1', sizes=[1, 2])").items == [
        ("lr", "0.001"),
        ("name", "run 1"),
        ("sizes", "[1, 2]"),
    ]
    assert plaintexts.options("Namespace(lr=1e-3, name=").items == []


def test_prose_has_no_options():
    """If most lines are something else, there are no settings."""
    found = plaintexts.options("This is a text\nwith some lines\nnote: one\n")

    assert found == plaintexts.Settings([], "no settings: most lines are not `name: value`")


def test_environment():
    """Variables of trainings are kept; secrets and a user's variables are counted."""
    found = plaintexts.environment("SLURM_JOB_ID=47\nexport CUDA_VISIBLE_DEVICES='0,1'\nWANDB_API_KEY=x\nHOME=/root\n")

    assert found.items == [("SLURM_JOB_ID", "47"), ("env.CUDA_VISIBLE_DEVICES", "0,1")]
    assert found.why == "variables left out: 1 that look like secrets, 1 of a user or a shell"


def test_ini():
    """Options get the name of their section; without sections the lines are plain options."""
    assert plaintexts.ini("[optim]\nlr = 0.1\nlr = 0.2\n[DEFAULT]\nseed = 7\n").items == [
        ("seed", "7"),
        ("optim.lr", "0.2"),
    ]
    assert plaintexts.ini("lr = 0.1\n").items == [("lr", "0.1")]


@pytest.mark.parametrize(
    ("name", "known"),
    [("env.txt", True), ("environment_variables.txt", True), ("train_args.txt", True), ("notes.txt", False)],
)
def test_names_of_dumps(name, known):
    """Files that may hold an environment or options."""
    assert bool(plaintexts.DUMPS.fullmatch(name)) is known


def test_overrides():
    """Hydra's list, with and without quotes."""
    assert plaintexts.overrides("- lr=0.1\n- 'model=a b'\nx\n").to_list() == ["lr=0.1", "model=a b"]
