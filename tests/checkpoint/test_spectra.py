"""Spectral norm and effective rank compared with all singular values, and the figure of a checkpoint."""

import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst import cli
from loganalyst.checkpoint.spectra import MAX_EXACT_SIDE, Place, with_spectrum
from loganalyst.checkpoint.tensorscan import scan
from loganalyst.checkpoint.torchfile import stored
from loganalyst.errors import LogAnalystError
from loganalyst.report.inspection import plot

SIZE = MAX_EXACT_SIDE + 128
I = np.arange(1.0, SIZE + 1)  # noqa: E741


def spectrum(matrix, path, form="safetensors"):
    if form == "torch":
        torch.save({"w": matrix}, path)
    else:
        safetensors.torch.save_file({"w": matrix.contiguous()}, path)
    (stats,) = la.inspect(path, spectra=True).checkpoints[0].tensors
    return stats.spectral_norm, stats.effective_rank


def exact_spectrum(matrix):
    values = torch.linalg.svdvals(matrix.double())
    share = values[values > 0] / values.sum()
    return float(values[0]), float(torch.exp(-(share * share.log()).sum()))


def with_values(values, rows=SIZE, columns=SIZE):
    """A matrix with these singular values in random directions."""
    torch.manual_seed(0)
    left, right = (torch.linalg.qr(torch.randn(n, len(values)))[0] for n in (rows, columns))
    return (left * torch.as_tensor(np.asarray(values), dtype=torch.float32)) @ right.T


@pytest.mark.parametrize(
    "values",
    [1 / I, I**-0.5, I**-2.0, np.exp(-I / 40), [3.0], np.ones(10), np.ones(SIZE), np.where(I <= 50, 1.0, 1e-3)],
    ids=["1/i", "1/sqrt(i)", "1/i^2", "exp", "one", "ten", "all alike", "step"],
)
def test_estimates_agree_with_all_singular_values(values, tmp_path):
    matrix = with_values(values)
    norm, rank = exact_spectrum(matrix)

    assert spectrum(matrix, tmp_path / "x.safetensors") == (
        pytest.approx(norm, rel=1e-5),
        pytest.approx(rank, rel=0.015),
    )


@pytest.mark.parametrize("shape", [(SIZE, 700), (700, SIZE), (900, 40, 4, 4)])
def test_random_matrices_of_any_shape(shape, tmp_path):
    """A convolution is a matrix of its outputs against all other axes."""
    torch.manual_seed(1)
    x = torch.randn(shape)
    norm, rank = exact_spectrum(x.reshape(shape[0], -1))

    assert spectrum(x, tmp_path / "x.pt", "torch") == (pytest.approx(norm, rel=1e-4), pytest.approx(rank, rel=0.015))


@pytest.mark.parametrize(("scale", "dtype"), [(1.0, torch.float64), (1e-30, torch.float32), (1e3, torch.bfloat16)])
def test_small_matrices_are_exact_at_any_scale(scale, dtype, tmp_path):
    x = (with_values([5.0, 1.0, 0.5], 30, 20) * scale).to(dtype)
    norm, rank = exact_spectrum(x)

    assert spectrum(x, tmp_path / "x.safetensors") == (pytest.approx(norm, rel=1e-6), pytest.approx(rank, rel=1e-5))


def test_a_matrix_too_large_to_hold_is_read_in_strips():
    matrix = stored(Path(), "w", with_values(I**-0.5))
    held = with_spectrum(matrix, scan(matrix))

    streamed = with_spectrum(matrix, scan(matrix), max_held=1000, strip=10_000)

    assert streamed.spectral_norm == pytest.approx(held.spectral_norm, rel=1e-5)
    assert streamed.effective_rank == pytest.approx(held.effective_rank, rel=1e-3)


@pytest.mark.parametrize("values", [I**-0.5, [3.0], np.ones(10)], ids=["1/sqrt(i)", "one", "ten"])
@pytest.mark.parametrize("held", [1000, 1 << 20], ids=["strips", "held"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_tensors_of_torch_give_the_same_spectrum(device, held, values):
    """On a GPU the method runs on tensors. Tensors on the processor run the same lines."""
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    matrix = stored(Path(), "w", with_values(values))
    expected = with_spectrum(matrix, scan(matrix), place=Place())

    found = with_spectrum(matrix, scan(matrix), max_held=held, place=Place(torch, device))

    assert found.spectral_norm == pytest.approx(expected.spectral_norm, rel=1e-5)
    assert found.effective_rank == pytest.approx(expected.effective_rank, rel=1e-3)


def test_vectors_zeros_and_nan_have_no_spectrum(tmp_path):
    none = (None, None)
    for x in (torch.ones(9), torch.zeros(4, 4), torch.full((3, 3), torch.nan), torch.ones(3, 3, dtype=torch.int64)):
        assert spectrum(x, tmp_path / "x.safetensors") == none
    assert spectrum(torch.tensor([1.0]).expand(10**6, 10**6), tmp_path / "x.pt", "torch") == none
    assert spectrum(torch.ones(1, 4), tmp_path / "x.safetensors") == (2.0, 1.0)


@pytest.fixture
def two(tmp_path):
    torch.manual_seed(0)
    names = ["wte.weight", *(f"h.{i}.{part}.weight" for i in range(12) for part in ("attn", "mlp"))]
    old = {name: torch.randn(12, 8) for name in names}
    new = {name: t * 1.01 for name, t in old.items()}
    new["h.3.mlp.weight"][2, 2] = torch.nan
    safetensors.torch.save_file(old, tmp_path / "old.safetensors")
    safetensors.torch.save_file(new, tmp_path / "new.safetensors")
    return tmp_path / "old.safetensors", tmp_path / "new.safetensors"


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main(["inspect", *map(str, arguments)])
    return int(stop.value.code or 0)


def test_the_command_shows_the_spectrum_in_place_of_the_extremes(two, capsys):
    assert run(two[1], "--spectra", "--top", 2) == 1
    out = capsys.readouterr().out
    lines = out[out.index("  tensor ") :].splitlines()
    head, first, second = (line.split() for line in lines[:3])

    assert head[-4:] == ["largest", "σ", "eff.", "rank"]
    assert "min" not in head
    assert first[-2:] == ["–", "–"]  # the one with NaN
    assert second[-2:] == ["of", "8"]
    assert run(two[1], "--spectra", "--format", "json") == 1
    tensors = json.loads(capsys.readouterr().out)["checkpoints"][0]["tensors"]
    assert [t["effective_rank"] is None for t in tensors] == [t["nan"] > 0 for t in tensors]


def test_a_figure_is_written(two, tmp_path):
    assert run(*two, "--plot", tmp_path / "figure.png") == 1
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"


def test_the_figure_has_layers_in_order_and_every_quantity(two, tmp_path):
    """Layer 10 follows layer 9, the legend has both checkpoints, NaN has a mark; two files are equal."""
    found = la.inspect(*two, spectra=True)
    found.plot(tmp_path / "a.svg")
    found.plot(tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")

    order = plot._by_kind([t.name for t in found.checkpoints[0].tensors])
    assert [n for n in order if "attn" in n] == [f"h.{i}.attn.weight" for i in range(12)]
    for words in ("old.safetensors", "NaN or infinite", "effective rank", "change since the one before"):
        assert words in text
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_a_figure_is_not_written_into_a_checkpoint(two, tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    Path(two[0]).rename(folder / "model.safetensors")

    with pytest.raises(LogAnalystError, match="lies inside the checkpoint"):
        la.inspect(folder).plot(folder / "x.png")
    with pytest.raises(LogAnalystError, match="unknown picture format"):
        la.inspect(folder).plot(tmp_path / "x.gif")
