"""Lines of a file in an archive."""

import zipfile

import pytest

from loganalyst.sources.files.zips import FAULTS, first_name, records


def archive(path, **files: str):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as found:
        for name, content in files.items():
            found.writestr(name, content)
    return path


def test_records_of_a_file(tmp_path):
    path = archive(tmp_path / "a.zip", first='{"a": 1}\n\n[2]\nbroken {\n', other="[3]")

    assert list(records(path, "first")) == [{"a": 1}, [2], None]
    assert list(records(path, "missing")) == []
    assert first_name(path.read_bytes()) == "first"


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path):
    path = archive(tmp_path / "a.zip", first=" " * ((256 << 20) + 1))

    with pytest.raises(ValueError, match="first is larger than 256 MiB"):
        list(records(path, "first"))


def test_damage_is_one_of_the_known_faults(tmp_path):
    path = archive(tmp_path / "a.zip", first='{"a": 1}\n' * 1000)
    content = bytearray(path.read_bytes())
    content[45] ^= 255
    path.write_bytes(content)

    with pytest.raises(FAULTS):
        list(records(path, "first"))
