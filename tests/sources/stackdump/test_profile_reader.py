"""The reader of py-spy's profiles."""

import json
from pathlib import Path

from loganalyst.sources.stackdump import profile_reader

RAW = (
    'process 7:"python train.py";main (train.py:3);poll (multiprocessing/connection.py:936) 5\n'
    "main (train.py:3);backward (torch/autograd/__init__.py:266) 7\n"
    "main (train.py:4);backward (torch/autograd/__init__.py:266) 2\n"
)
SCHEMA = "https://www.speedscope.app/file-format-schema.json"
FRAMES = [
    {"name": "main", "file": "train.py", "line": 3},
    {"name": "save", "file": "torch/serialization.py", "line": 620},
]


def rows(path: Path) -> list[tuple[object, ...]]:
    (tables,) = profile_reader.read(path)
    return list(tables.blocks.select("kind", "message", "frame", "repeated").iter_rows())


def test_a_profile_is_recognised_by_its_content() -> None:
    assert profile_reader.sniff(Path("x.txt"), RAW.encode()) == 0.95
    assert profile_reader.sniff(Path("x"), f'{{"$schema":"{SCHEMA}"'.encode()) == 0.99
    assert profile_reader.sniff(Path("x.txt"), b"step;1 2\nloss;2 3\n") == 0.0


def test_stacks_in_text(tmp_path: Path) -> None:
    """A line counts for what its innermost known frame does, and for the user's own frame."""
    path = tmp_path / "profile.raw"
    path.write_text(RAW)

    assert rows(path) == [
        ("profile", "backward: backward", "train.py:3 in main", 7),
        ("profile", "other: poll", "train.py:3 in main", 5),
        ("profile", "backward: backward", "train.py:4 in main", 2),
    ]


def test_speedscope(tmp_path: Path) -> None:
    path = tmp_path / "profile.speedscope.json"
    profiles = [{"type": "sampled", "samples": [[0, 1], [0, 1], [0]], "weights": [0.1, 0.1, 0.1]}]
    path.write_text(json.dumps({"$schema": SCHEMA, "shared": {"frames": FRAMES}, "profiles": profiles}))

    assert rows(path) == [
        ("profile", "checkpoint: save", "train.py:3 in main", 2),
        ("profile", "other: main", "train.py:3 in main", 1),
    ]


def test_content_that_is_no_profile_becomes_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "profile.speedscope.json"
    path.write_text(json.dumps({"$schema": SCHEMA, "shared": {"frames": FRAMES}, "profiles": [{"samples": [[9]]}]}))
    (tables,) = profile_reader.read(path)

    assert tables.gaps["why"].to_list() == ["not a readable profile (list index out of range)"]
