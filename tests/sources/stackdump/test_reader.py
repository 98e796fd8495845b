"""The reader of dumps of stacks."""

from pathlib import Path

from loganalyst.sources.stackdump import reader

DUMP = """Process 77: python -u train.py
Thread 77 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2450)
    main (train.py:40)
"""


def test_a_dump_is_recognised_by_its_content() -> None:
    assert reader.sniff(Path("x.txt"), DUMP.encode()) == 0.95
    assert reader.sniff(Path("x.txt"), b"step 1 loss 2.0\n" + DUMP.encode()) == 0.0
    assert reader.sniff(Path("x.json"), b'[{"pid": 1, "thread_id": 3, "frames": [{"short_filename": "a.py"}]}]') == 0.99


def test_one_row_of_blocks_for_each_process(tmp_path: Path) -> None:
    path = tmp_path / "pyspy_rank3.txt"
    path.write_text(DUMP)
    (tables,) = reader.read(path)
    (row,) = tables.blocks.to_dicts()

    assert (row["kind"], row["rank"], row["message"], row["frame"]) == (
        "stack",
        3,
        "collective: all_reduce",
        "train.py:40 in main",
    )
    assert (row["first_line"], row["last_line"], row["file"]) == (1, 5, "pyspy_rank3.txt")


def test_content_that_is_no_dump_becomes_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "pyspy.json"
    path.write_text('[{"pid": 1, "thread_id"')
    (tables,) = reader.read(path)

    assert tables.gaps["why"][0].startswith("not a readable dump of stacks (")
