"""The compiled catalogue: it is used if it agrees with its sources, and ignored in every other case."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from loganalyst.errors import RuleError
from loganalyst.rulefiles import compiledfile, folders, load, loading, ours, yaml_files
from loganalyst.rulefiles.compiledfile import Compiled, cache_file, compiled, sources_stamp
from loganalyst.rulefiles.compiling import keep_compiled, write_compiled
from loganalyst.rulefiles.sealedfile import MAX_BYTES, sealed
from loganalyst.rulefiles.shapes import Shape

YAML = "a: 1\nb: [x, y]\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of two files, and a cache folder that is not there yet."""
    folder = tmp_path / "rules"
    (folder / "text").mkdir(parents=True)
    (folder / "one.yaml").write_text(YAML)
    (folder / "text" / "two.yaml").write_text("when: 2027-01-31\n")
    for module in (folders, compiledfile, loading):
        monkeypatch.setattr(module, "rules_dir", lambda: folder)
    monkeypatch.setattr("loganalyst.rulefiles.compiling.rules_dir", lambda: folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiled.cache_clear()
    yield folder
    compiled.cache_clear()


def kept() -> Path:
    """The file in the cache folder, just made."""
    file = cache_file()
    assert file is not None
    keep_compiled(file, lambda: msgspec.msgpack.encode("checked"))
    compiled.cache_clear()
    return file


def test_the_data_are_those_of_the_yaml(rules: Path) -> None:
    """A file whose data msgpack changes, such as a date, is left out and parsed."""
    parsed = {file: load(file) for file in yaml_files(rules)}
    kept()
    found = compiled()

    assert found is not None
    assert found.files.keys() == {"one.yaml"}
    assert msgspec.msgpack.decode(found.rules) == "checked"
    assert {file: load(file).data for file in parsed} == {file: read.data for file, read in parsed.items()}


def test_lines_are_read_from_the_yaml(rules: Path) -> None:
    """A fault in a compiled file is reported with its line."""
    kept()

    class One(Shape, frozen=True):
        a: int
        b: tuple[int, int]

    assert load(rules / "one.yaml").where("b", 1) == f"{rules / 'one.yaml'}:2"
    with pytest.raises(RuleError, match=r"one\.yaml:2: an entry of b is 'x'"):
        ours("one.yaml", One, rules)


def test_it_is_made_from_the_sources_as_they_are(rules: Path) -> None:
    """Of another content, size or name of a file, it is not used; of the same, it is again."""
    kept()
    (rules / "one.yaml").write_text(YAML.replace("1", "2"))
    changed = compiled()
    compiled.cache_clear()
    (rules / "one.yaml").write_text(YAML)
    same = compiled()
    compiled.cache_clear()
    (rules / "one.yaml").rename(rules / "other.yaml")

    assert changed is None
    assert same is not None
    assert compiled() is None
    assert load(rules / "other.yaml").data == {"a": 1, "b": ["x", "y"]}


def test_it_is_made_again_after_a_change(rules: Path) -> None:
    """The file of the old sources is replaced."""
    before = kept()
    (rules / "one.yaml").write_text("a: 3\n")
    after = kept()
    found = compiled()

    assert before == after
    assert found is not None
    assert msgspec.msgpack.decode(found.files["one.yaml"]) == {"a": 3}


def damaged(content: bytes) -> dict[str, bytes]:
    """What may lie in a cache folder instead of the file."""
    stamp = sources_stamp()
    return {
        "empty": b"",
        "cut": content[:-1],
        "longer": content + b"x",
        "one bit": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        "other magic": b"x" + content[1:],
        "foreign": b"PK\x03\x04" * 99,
        "other stamp": sealed(msgspec.msgpack.encode(Compiled({}, msgspec.Raw(b"\xc0"))), bytes(16)),
        "no catalogue": sealed(msgspec.msgpack.encode(["x"]), stamp),
        "no msgpack": sealed(b"\xc1", stamp),
        "nested": sealed(b"\x91" * 100_000, stamp),
    }


@pytest.mark.parametrize("which", damaged(b"0123456789"))
def test_a_damaged_file_is_ignored(rules: Path, which: str) -> None:
    """And so is any other file. The YAML is parsed, and the next keeping replaces it."""
    file = kept()
    file.write_bytes(damaged(file.read_bytes())[which])

    assert compiled() is None
    assert load(rules / "one.yaml").data == {"a": 1, "b": ["x", "y"]}
    kept()
    assert compiled() is not None


def test_a_file_that_others_may_write_is_ignored(rules: Path, tmp_path: Path) -> None:
    """By its permissions; a link and a pipe are no files of ours either."""
    file = kept()
    file.chmod(0o666)
    writable = compiled()
    file.rename(tmp_path / "moved")
    (tmp_path / "moved").chmod(0o644)
    file.symlink_to(tmp_path / "moved")
    compiled.cache_clear()
    linked = compiled()
    file.unlink()
    os.mkfifo(file)
    compiled.cache_clear()

    assert [writable, linked, compiled()] == [None, None, None]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_ignored(rules: Path) -> None:
    os.chown(kept(), 12345, -1)

    assert compiled() is None


def test_a_file_that_is_too_large_is_ignored(rules: Path) -> None:
    """It is not even read."""
    os.truncate(kept(), MAX_BYTES + 1)

    assert compiled() is None


def test_the_file_of_the_package_comes_first(rules: Path) -> None:
    """A wheel needs no cache folder, and its file may belong to another user."""
    write_compiled(rules / compiledfile.NAME, lambda: msgspec.msgpack.encode("of the wheel"))
    (rules / compiledfile.NAME).chmod(0o666)
    kept()
    found = compiled()

    assert found is not None
    assert msgspec.msgpack.decode(found.rules) == "of the wheel"


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative XDG_CACHE_HOME does not count; each place of rules has a file of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    given = cache_file()
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", "/home/me")
    default = cache_file()
    monkeypatch.setattr(compiledfile, "rules_dir", lambda: Path("/elsewhere/rules"))
    other = cache_file()

    assert given is not None
    assert default is not None
    assert other is not None
    assert given.parent == Path("/cache/loganalyst")
    assert default == Path("/home/me/.cache/loganalyst") / given.name
    assert other.parent == default.parent
    assert other.name != default.name


def test_several_processes_may_begin_at_once(tmp_path: Path) -> None:
    """Each keeps a whole file, and no other is left behind."""
    code = (
        "from loganalyst import rulecatalogue, rulefiles; rulecatalogue.keep_compiled([]);"
        "rulefiles.compiled.cache_clear(); print(len(rulefiles.compiled().files))"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate()[0] for process in processes}

    assert [process.returncode for process in processes] == [0, 0, 0]
    assert said == {f"{len(yaml_files(folders.rules_dir()))}\n"}
    assert [path.suffix for path in (tmp_path / "loganalyst").iterdir()] == [".msgpack"]
