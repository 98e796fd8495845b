"""Files that lie, are cut off, or would run code: refused with our own error, and nothing is run."""

import json
import os
import pickle
import zipfile

import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst import cli
from loganalyst.errors import SourceError


class Evil:
    """Touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def refused(path):
    with pytest.raises(SourceError) as told:
        la.inspect(path)
    return str(told.value)


def header(path, entries, data=b"", length=None):
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_that_would_run_code_is_refused_and_not_run(legacy, tmp_path):
    torch.save(
        {"w": torch.ones(3), "x": Evil(tmp_path / "ran")}, tmp_path / "x.pt", _use_new_zipfile_serialization=not legacy
    )

    told = refused(tmp_path / "x.pt")

    assert ("can run code" if legacy else "posix.system") in told
    assert "state_dict" in told
    assert not (tmp_path / "ran").exists()


def test_a_plain_pickle_is_refused_and_not_run(tmp_path):
    (tmp_path / "x.ckpt").write_bytes(pickle.dumps(Evil(tmp_path / "ran")))

    assert "can run code" in refused(tmp_path / "x.ckpt")
    assert not (tmp_path / "ran").exists()


def test_a_whole_saved_model_is_refused_with_its_classes_named(tmp_path):
    torch.save(torch.nn.Linear(2, 2), tmp_path / "x.pt")

    assert "torch.nn.modules.linear.Linear" in refused(tmp_path / "x.pt")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1 << 62, 4], "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 1 << 62]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [-4, 0]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]},
        {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1] * 10_000, "data_offsets": [0, 4]},
        {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]},
        {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]},
        {"shape": [1]},
        [],
        None,
    ],
)
def test_a_header_that_lies_is_refused(entry, tmp_path):
    assert "tensor" in refused(header(tmp_path / "x.safetensors", {"w": entry}, b"\0" * 8))


def test_headers_that_are_none_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    for text in (b"[]", b"{", b"\xff\xfe{}", b'{"a": ' + b"[" * 100_000, b'{"w": 1, "w": 1}', b"9" * 9000):
        assert "its header is not JSON" in refused(header(path, text))
    for length in (1 << 63, (1 << 64) - 1, 101_000_000, 3):
        assert "header should be" in refused(header(path, b"{}", length=length))
    assert "header should be 0" not in refused(header(path, b"", length=0))


def test_tensors_that_overlap_or_leave_numbers_over_are_refused(tmp_path):
    one = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}

    assert "begins at" in refused(header(tmp_path / "x.safetensors", {"a": one, "b": one}, b"\0" * 4))
    assert "bytes long" in refused(header(tmp_path / "x.safetensors", {"a": one}, b"\0" * 9))


@pytest.mark.parametrize("name", ["../x.safetensors", "/etc/passwd", "..", "a/b", "..\\x", "", "y.index.json"])
def test_an_index_names_no_file_elsewhere(name, tmp_path):
    safetensors.torch.save_file({"w": torch.ones(1)}, tmp_path / "x.safetensors")
    index = tmp_path / "in" / "model.safetensors.index.json"
    index.parent.mkdir()
    index.write_text(json.dumps({"weight_map": {"w": name}}))

    assert "names " in refused(index)


@pytest.mark.parametrize("text", ["[]", "{}", '{"weight_map": 3}', '{"weight_map": {"a": 1}}', "{", "[" * 100_000])
def test_an_index_that_is_none_is_refused(text, tmp_path):
    (tmp_path / "model.safetensors.index.json").write_text(text)

    assert refused(tmp_path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
        archive.writestr("archive/data/0", b"\0" * 50_000_000)

    assert "would unpack to 50" in refused(path)


def test_archives_of_something_else_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr("x.npy", b"1")
    with zipfile.ZipFile(tmp_path / "b.pt", "w") as archive:
        archive.writestr("../../data.pkl", pickle.dumps({}))

    assert "not of torch.save" in refused(tmp_path / "a.pt")
    assert "outside its folder" in refused(tmp_path / "b.pt")


@pytest.mark.parametrize("form", ["safetensors", "torch"])
def test_a_file_cut_anywhere_is_a_clear_error(form, tmp_path):
    tensors = {"w": torch.randn(40, 20), "b": torch.randn(40)}
    whole, path = (tmp_path / f"{name}.{'pt' if form == 'torch' else 'safetensors'}" for name in ("whole", "x"))
    safetensors.torch.save_file(tensors, whole) if form == "safetensors" else torch.save(tensors, whole)
    content = whole.read_bytes()
    assert len(la.inspect(whole).checkpoints[0].tensors) == 2

    for length in range(0, len(content), 100):
        path.write_bytes(content[:length])
        assert refused(path)


@pytest.mark.parametrize("form", ["safetensors", "torch"])
def test_damaged_bytes_are_read_or_refused_and_nothing_else(form, tmp_path):
    """A byte changed somewhere: the numbers differ, or it is our error."""
    tensors = {"w": torch.arange(12.0), "b": torch.ones(2, 2)}
    path = tmp_path / f"x.{'pt' if form == 'torch' else 'safetensors'}"
    safetensors.torch.save_file(tensors, path) if form == "safetensors" else torch.save(tensors, path)
    content = path.read_bytes()
    read = 0
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xA5]) + content[at + 1 :])
        try:
            read += len(la.inspect(path).checkpoints)
        except SourceError:
            read += 0
    assert read > 0


def test_what_refers_to_itself_or_doubles_ends(tmp_path):
    """A list in itself, and 2^60 paths to one tensor."""
    own = [torch.ones(2)]
    own.append(own)
    deep = [torch.ones(3)]
    for _ in range(60):
        deep = [deep, deep]
    torch.save({"own": own, "deep": deep}, tmp_path / "x.pt")

    assert [t.count for t in la.inspect(tmp_path / "x.pt").checkpoints[0].tensors] == [2]


def test_what_is_no_checkpoint_is_exit_2(tmp_path, capsys):
    (tmp_path / "empty.pt").touch()
    (tmp_path / "text.pt").write_text("loss 3.2\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/__0_0.distcp").touch()
    os.mkfifo(tmp_path / "fifo.pt")
    told = {"gone.pt": "no such file", "empty.pt": "is empty", "text.pt": "is not a checkpoint",
            "parts": "files of single processes", "fifo.pt": "neither a file nor a folder"}  # fmt: skip
    for name, words in told.items():
        with pytest.raises(SystemExit) as stop:
            cli.main(["inspect", str(tmp_path / name)])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err


def test_without_torch_the_extra_is_named(tmp_path, monkeypatch):
    torch.save({"w": torch.ones(3)}, tmp_path / "x.pt")
    monkeypatch.setitem(__import__("sys").modules, "torch", None)

    assert "pip install '.[replay]'" in refused(tmp_path / "x.pt")
