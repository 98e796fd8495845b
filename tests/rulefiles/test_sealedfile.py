"""Sealed files: whole, of the same sources and ours, or not used. Their users test the rest (test_compiledfile)."""

from pathlib import Path

import pytest

from loganalyst.rulefiles.sealedfile import HASH_BYTES, sealed, unsealed

STAMP = bytes(range(HASH_BYTES))


@pytest.mark.parametrize("content", [b"", b"x", b"y" * 100_000])
def test_the_content_comes_back(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(sealed(content, STAMP))
    (tmp_path / "file").chmod(0o644)

    assert unsealed(tmp_path / "file", STAMP, trusted=False) == content
    assert unsealed(tmp_path / "file", STAMP[::-1], trusted=False) is None


def test_what_others_may_write_is_used_only_if_it_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(sealed(b"x", STAMP))
    (tmp_path / "file").chmod(0o666)

    assert unsealed(tmp_path / "file", STAMP, trusted=False) is None
    assert unsealed(tmp_path / "file", STAMP, trusted=True) == b"x"


def test_a_file_that_is_not_there_has_no_content(tmp_path: Path) -> None:
    assert unsealed(tmp_path / "none", STAMP, trusted=True) is None
    assert unsealed(tmp_path, STAMP, trusted=True) is None
