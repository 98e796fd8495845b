"""File and line of settings in code and configuration files."""

from loganalyst.sources.config.settingplaces import places


def test_python(tmp_path):
    """Assignments, defaults, keywords, dictionary keys and options; computed values are left out."""
    path = tmp_path / "train.py"
    path.write_text(
        "lr = 0.1\n"
        "def train(steps=10, *, warmup=5): pass\n"
        "parser.add_argument('-b', '--batch-size', default=32)\n"
        "config = {'seed': 7, 'x': 1 + 1}\n"
        "self.decay: float = 1e-2\n"
    )
    found, faults = places([path])

    assert [(place.line, place.key, place.value) for place in found] == [
        (1, "lr", "0.1"),
        (2, "steps", "10"),
        (2, "warmup", "5"),
        (3, "batch_size", "32"),
        (4, "seed", "7"),
        (5, "decay", "0.01"),
    ]
    assert faults == ()


def test_folders(tmp_path):
    """Hidden folders are skipped, and a broken file does not stop the others."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/x.py").write_text("a = 1\n")
    (tmp_path / "a.yaml").write_text("optim:\n  lr: 0.1\n")
    (tmp_path / "b.py").write_text("lr = (\n")
    found, faults = places([tmp_path])

    assert [(place.line, place.key, place.value) for place in found] == [(2, "lr", "0.1")]
    assert len(faults) == 1
    assert faults[0].startswith(f"{tmp_path / 'b.py'}: not searched for settings (")
