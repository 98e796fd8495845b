"""Why no reader knows a file, and what to do."""

import pickle
from fractions import Fraction

import pytest

from loganalyst.errors import SourceError
from loganalyst.sources import unknown
from loganalyst.sources.ingest import ingest


@pytest.mark.parametrize("protocol", range(2))
def test_a_pickle_of_an_old_protocol_is_named(protocol):
    head = pickle.dumps({"loss": [0.5, 0.25], "val_loss": [0.5]}, protocol=protocol)

    assert unknown.why(head) == "is a pickle, which can run code and is not loaded: export it as JSON or CSV"


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_pickle_says_which_class_it_holds(protocol):
    """The first one; without any it holds no history, or it would have been read."""
    of_class = pickle.dumps({"loss": [0.5], "scaler": Fraction(1, 3)}, protocol=protocol)
    plain = pickle.dumps({"loss": 3, "accuracy": 4}, protocol=protocol)

    assert unknown.why(of_class) == (
        "is a pickle of `fractions.Fraction`, which can run code and is not loaded: export it as JSON or CSV"
    )
    assert unknown.why(plain) == "is a pickle without a history of numbers: export its numbers as JSON or CSV"


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (b"PK\x03\x04rest", "compressed by zip: unpack it first"),
        (b"\x89HDF\r\n\x1a\nrest", "HDF5: export its numbers as CSV or JSON"),
        (b"a\0b", "binary data of no known log format (a NUL byte at offset 1)"),
        (b"some words\n", "no known log format"),
    ],
)
def test_other_formats(head, why):
    assert unknown.why(head) == why


def test_a_text_of_numbers_says_what_it_holds(tmp_path):
    """Also where it was read as a log, because nothing else was given."""
    path = tmp_path / "odd.txt"
    path.write_text("12 34\n1 2 3\n4 5\n7\n", encoding="utf-8")

    assert ingest(path).gaps["why"].to_list() == [
        "4 lines, most with 2 numbers, such as `12 34`: write one row a step, below a header line such as `step,loss`"
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("loss\n0 2.5\n1 2.25\n", "3 lines, most with 2 numbers, such as `0 2.5`"),
        ("64 [-1, -2] 1 0 models.common.Concat [1]\n65 -1 1 33024 models.common.Conv [256, 128]\n", ""),
        ("max_steps: 500\n", ""),  # a setting: it was read as the plan
        ("lr = 0.1\nsteps=500\n", ""),
        ("loss: 0.5\nloss: 0.4\nloss: 0.3\n", "3 lines, most with 1 number, such as `loss: 0.5`"),
    ],
)
def test_the_sample_is_a_usual_line_of_numbers(content, what):
    """A table with words, such as the layers of a model, is no table of numbers."""
    assert unknown.numbers(content).split(": write")[0] == what


def test_a_folder_without_runs_names_its_files(tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps([1]))
    for name in ("numbers.txt", "others.txt"):  # a single text is read
        (tmp_path / name).write_text("0.5 1\n0.25 1\n0.125 1\n", encoding="utf-8")

    with pytest.raises(SourceError) as error:
        ingest(tmp_path)
    assert "(model.pkl: is a pickle without a history of numbers: export its numbers as JSON or CSV; " in str(
        error.value
    )
    assert "numbers.txt: name the file itself to read it" in str(error.value)


def test_a_link_that_leads_out_is_not_opened(tmp_path):
    (tmp_path / "secret").write_bytes(b"\x80\x04\x95 secret")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x.bin").symlink_to(tmp_path / "secret")

    with pytest.raises(SourceError, match="leads out"):
        ingest(tmp_path / "run")


def test_a_log_with_dates_is_no_text_of_numbers() -> None:
    """Numbers inside a date, a time or a setting do not count."""
    line = "[I 2024-05-01 10:00:05,123] Trial 3 finished with value: 0.5 and parameters: {'lr': 0.1}.\n"

    assert unknown.numbers(line * 9) == ""
    assert unknown.numbers("[1, 2.5]\n[2, 2.25]\n").startswith("2 lines, most with 2 numbers, such as `[1, 2.5]`")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epoch 1 0.5\n", "one line, `epoch 1 0.5`"),
        ("0.5\n0.25\n", "2 lines, most with 1 number, such as `0.5`"),
    ],
)
def test_one_line_and_one_number_are_singular(text, said):
    assert unknown.numbers(text).split(": write")[0] == said
