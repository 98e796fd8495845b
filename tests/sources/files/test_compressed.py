"""Compressed logs are read like plain ones, damaged ones up to the damage, in bounded space."""

import bz2
import gzip
import lzma
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from loganalyst.errors import SourceError
from loganalyst.sources.files import compressed
from loganalyst.sources.ingest import ingest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS = {".gz": gzip.compress, ".zst": zstd.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
CSV = b"step,loss\n" + b"".join(b"%d,%r\n" % (i, 1 / (i + 1)) for i in range(20_000))
TEMPORARY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def content(path: Path, data: bytes) -> tuple[bytes, pl.DataFrame]:
    """The content of `data` as the file `path`, and the gaps."""
    path.write_bytes(data)
    with compressed.unpacked(path, data[:64]) as (inner, gaps):
        return inner.read_bytes(), gaps


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_log_is_the_log(tmp_path, monkeypatch, suffix):
    """The same points by the same reader; the source is the packed file, and nothing else is left or written."""
    for folder, name, data in (("a", "metrics.csv", CSV), ("b", f"metrics.csv{suffix}", PACKERS[suffix](CSV))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    plain, packed = ingest(tmp_path / "a" / "metrics.csv"), ingest(tmp_path / "b" / f"metrics.csv{suffix}")

    assert_frame_equal(plain.points.drop("source"), packed.points.drop("source"))
    assert packed.points["source"].unique().to_list() == [f"metrics.csv{suffix}"]
    assert packed.sources[0].format == "csv"
    assert packed.gaps.height == 0
    assert os.listdir(tmp_path / "b") == [f"metrics.csv{suffix}"]
    assert not os.listdir(tmp_path / "temporary")


def test_the_first_bytes_decide_not_the_name(tmp_path):
    """A packed file without the suffix is unpacked, a plain one with it is read as it is."""
    (tmp_path / "metrics.csv").write_bytes(gzip.compress(CSV))
    assert ingest(tmp_path / "metrics.csv").points.height == 20_000
    assert content(tmp_path / "plain.gz", b"step 1")[0] == b"step 1"


@TEMPORARY
@given(parts=st.lists(st.binary(max_size=3000), min_size=1, max_size=4), suffix=st.sampled_from(sorted(PACKERS)))
def test_members_follow_one_another(tmp_path, parts, suffix):
    """Several members or frames in one file are one content, whatever it is."""
    found, gaps = content(tmp_path / f"x{suffix}", b"".join(map(PACKERS[suffix], parts)))

    assert found == b"".join(parts)
    assert gaps.height == 0


@TEMPORARY
@given(cut=st.integers(8, 10**6), suffix=st.sampled_from(sorted(PACKERS)))
def test_a_cut_file_is_read_as_far_as_it_goes(tmp_path, cut, suffix):
    """A file that was cut anywhere gives the beginning of its content, and the gap says where it ends."""
    packed = PACKERS[suffix](CSV[:50_000])
    cut %= len(packed)
    if cut < 8:
        return
    found, gaps = content(tmp_path / f"x{suffix}", packed[:cut])

    assert CSV.startswith(found)
    assert gaps.select("offset", "bytes").rows() == [(cut, 0)]
    assert "cut off" in gaps["why"][0]


@TEMPORARY
@given(at=st.integers(12, 10**6), bit=st.integers(0, 7), suffix=st.sampled_from(sorted(PACKERS)))
def test_damage_is_a_gap_never_an_exception(tmp_path, at, bit, suffix):
    """A flipped bit changes nothing that matters, or is reported."""
    checked = {zstd.CompressionParameter.checksum_flag: 1}  # zstd's are optional
    pack = PACKERS[suffix] if suffix != ".zst" else partial(zstd.compress, options=checked)
    packed = bytearray(pack(CSV[:50_000]))
    packed[at % len(packed)] ^= 1 << bit
    if compressed.compression(bytes(packed)):
        found, gaps = content(tmp_path / f"x{suffix}", bytes(packed))

        assert found == CSV[:50_000] or gaps.height == 1


def test_all_before_the_damage_is_kept(tmp_path):
    """All content before a zeroed page of a gzip file is read, to the byte."""
    data = os.urandom(300_000).hex().encode()
    packed = gzip.compress(data)
    found, gaps = content(tmp_path / "x.gz", packed[:200_000] + bytes(4096) + packed[204_096:])

    assert found.startswith(data[: len(data) * 195_000 // len(packed)])
    assert "damaged" in gaps["why"][0]


def test_bytes_after_the_last_member(tmp_path):
    """Zeros after the last member are padding; other bytes are reported."""
    packed = gzip.compress(b"step 1\n")

    assert content(tmp_path / "a.gz", packed + bytes(100_000))[1].height == 0
    found, gaps = content(tmp_path / "b.gz", packed + b"rubbish")
    assert found == b"step 1\n"
    assert gaps.select("offset", "bytes").rows() == [(len(packed), 7)]


def test_a_zstd_file_may_begin_with_a_frame_to_skip(tmp_path):
    """Tools such as pzstd and the seekable format put their own frames between."""
    skip = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"

    assert content(tmp_path / "x.zst", skip + zstd.compress(b"a") + skip + zstd.compress(b"b"))[0] == b"ab"


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_bomb_is_bounded(tmp_path, monkeypatch, suffix):
    """Content past the limits is not written, and the gap says so."""
    monkeypatch.setattr(compressed, "by_ratio", lambda _: 1 << 20)
    packed = PACKERS[suffix](bytes(64 << 20))
    found, gaps = content(tmp_path / f"x{suffix}", packed)

    assert len(found) == 1 << 20
    assert "more than" in gaps["why"][0]


def test_an_event_file_and_a_twice_packed_log(tmp_path):
    """The reader sees the name without the suffix; content that is compressed again is reported."""
    (tmp_path / "twice.log.gz").write_bytes(gzip.compress(zstd.compress(CSV)))

    with pytest.raises(SourceError, match="compressed twice, inside by zstd"):
        ingest(tmp_path / "twice.log.gz")


@pytest.mark.parametrize(
    ("size", "content"), [(0, 256 << 20), (1 << 20, 300 << 20), (10 << 20, 1 << 30), (100 << 20, 3000 << 20)]
)
def test_the_limit_grows_with_the_file(size: int, content: int) -> None:
    """A small file may expand much; the ratio of a long one is limited more."""
    assert compressed.by_ratio(size) == content
