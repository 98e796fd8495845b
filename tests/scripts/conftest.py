"""The scripts as a user gets them: written by the command, loaded from that file."""

import runpy

import pytest

from tests.scripts.commands import run


@pytest.fixture
def script(tmp_path):
    """The function of a script that the command has written, loaded from that file."""

    def load(name: str):
        if not (tmp_path / f"{name}.py").exists():
            assert run("script", name, "-o", tmp_path / f"{name}.py") == 0
        return runpy.run_path(str(tmp_path / f"{name}.py"))[name]

    return load


@pytest.fixture
def torch():
    found = pytest.importorskip("torch", reason="the scripts measure torch models, and torch is not installed")
    found.manual_seed(0)
    return found


@pytest.fixture
def model(torch):
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
