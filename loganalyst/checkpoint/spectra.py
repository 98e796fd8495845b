"""The largest singular value and the effective rank of a matrix, from products with the matrix alone. It is read in
strips of rows. All arrays of its height or width lie on a GPU if there is one.

Effective rank: exp of the entropy of the singular values s as shares of their sum (Roy and Vetterli 2007, The effective
rank: a measure of effective dimensionality). For matrices with at most `MAX_EXACT_SIDE` rows or columns all singular
values are computed. Larger ones need only two sums, of s and of s log s. Leading singular values come from a block
Krylov space (Musco and Musco 2015, Randomized block Krylov methods, arXiv:1504.05477) if their residuals are small. The
sums over the others are traces of functions of A'A. Random probes orthogonal to the leading directions (Meyer et al.
2021, Hutch++, arXiv:2010.09649) and Lanczos quadrature (Ubaru, Chen and Saad 2017, Fast estimation of tr(f(A)), SIAM J.
Matrix Anal. Appl. 38) estimate them. On flat spectra, on spectra that fall slowly or fast, and on spectra of few
values, the norm was right to 1e-6 and the rank to 1.5 %.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import exp, log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.shardpieces import BlockReader
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.model import TensorStats

Matrix = NDArray[np.float32]
Strips = Callable[[], Iterator[Matrix]]
Held = Any  # an array of numpy, or a tensor on the GPU; both have the operations that are used here
Product = Callable[[Held], Held]  # multiplies A'A with some columns

MAX_EXACT_SIDE = 512
KRYLOV_WIDTH, KRYLOV_BLOCKS = 32, 12  # columns of a block, and blocks of the Krylov space
PROBES, LANCZOS_STEPS = 16, 16  # random vectors, and quadrature points of each
MAX_RESIDUAL = 0.01  # largest residual of a squared singular value, as a share of it
STRIP_ELEMENTS = 1 << 20  # elements read at a time
MAX_HELD_ELEMENTS = 1 << 27  # elements (0.5 GB) of a matrix held in memory; a larger one is read for each product
MAX_STREAMED_COLUMNS = 1 << 17  # longest vectors of which the method may hold (LANCZOS_STEPS + 1) * PROBES


@dataclass(frozen=True)
class Place:
    """Where the large arrays lie: in memory, as arrays of numpy, or on a device, as tensors of torch.

    `library` is either module: the functions of both that are used here have the same names and arguments.
    """

    library: Any = np
    device: str = "cpu"

    def put(self, array: Matrix) -> Held:
        """The array at this place."""
        return array if self.library is np else self.library.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def fetch(self, held: Held) -> NDArray[Any]:
        """The array in memory, for numpy."""
        found: NDArray[Any] = held if self.library is np else held.cpu().numpy()
        return found

    def dots(self, left: Held, right: Held) -> Held:
        """The dot products of columns, added up in float64."""
        return (left * right).sum(0, dtype=self.library.float64)

    def single(self, held: Held) -> Held:
        """The array as float32."""
        return self.library.asarray(held, dtype=self.library.float32)


def with_spectrum(
    stored: Stored,
    stats: TensorStats,
    *,
    max_held: int = MAX_HELD_ELEMENTS,
    strip: int = STRIP_ELEMENTS,
    place: Place | None = None,
) -> TensorStats:
    """The statistics with the spectrum of the first axis against all others. They stay unchanged if there is no
    spectrum: no matrix, only zeros, values that are not finite, or too many columns. `place`: where the arrays lie,
    on a GPU if there is one by default.
    """
    if len(stored.shape) < 2 or not stored.floating or "complex" in stored.dtype or stats.nonfinite:
        return stats
    rows, columns = stored.shape[0], prod(stored.shape[1:])
    peak = max(-(stats.min or 0.0), stats.max or 0.0)
    if not peak or sum(map(len, stored.blocks())) != rows * columns:
        return stats  # only zeros, or a view that repeats one value
    is_held, power = rows * columns <= max_held, ((stats.norm or 0.0) / peak) ** 2
    if not is_held and columns > MAX_STREAMED_COLUMNS:
        return stats

    place, strips = place or _fastest(), partial(_strips, stored, columns, peak, strip)
    if is_held:
        norm, rank = _of_held(np.concatenate(list(strips())), power, place)
    else:
        norm, rank = _estimated(_streamed_product(strips, place), columns, power, place)
    return replace(stats, spectral_norm=norm * peak, effective_rank=rank)


def _strips(stored: Stored, columns: int, peak: float, strip: int) -> Iterator[Matrix]:
    """Strips divided by the largest value, so that squares stay within the range of float32."""
    reader, height = BlockReader(stored.blocks(), np.dtype(np.float32)), max(strip // columns, 1)
    rows = stored.shape[0]
    for row in range(0, rows, height):
        count = min(height, rows - row)
        yield (reader.next(count * columns).reshape(count, columns) / peak).astype(np.float32)


def _of_held(matrix: Matrix, power: float, place: Place) -> tuple[float, float]:
    """Spectral norm and effective rank of a matrix in memory; `power` as in `_estimated`."""
    matrix = matrix if matrix.shape[1] <= len(matrix) else matrix.T
    side = matrix.shape[1]
    return _exact(matrix) if side <= MAX_EXACT_SIDE else _estimated(_held_product(matrix, place), side, power, place)


def _exact(matrix: Matrix) -> tuple[float, float]:
    square = np.zeros((matrix.shape[1],) * 2)
    for first in range(0, len(matrix), STRIP_ELEMENTS // MAX_EXACT_SIDE):
        rows = matrix[first : first + STRIP_ELEMENTS // MAX_EXACT_SIDE].astype(np.float64)
        square += rows.T @ rows
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(square), 0.0))
    return float(values.max()), _rank(float(values.sum()), float(_times_log(values).sum()))


def _estimated(product: Product, columns: int, power: float, place: Place) -> tuple[float, float]:
    """Spectral norm and effective rank: singular values of a block Krylov space, and sums over the others by random
    probes. `power` is the sum of all squared singular values, which is known exactly.
    """
    draw = np.random.default_rng(0)
    block = place.put(draw.standard_normal((columns, KRYLOV_WIDTH), dtype=np.float32))
    values, leading = _leading(product, block, place)
    probes = place.put(draw.standard_normal((columns, PROBES), dtype=np.float32))
    probes -= leading @ (leading.T @ probes)
    probes /= place.single(place.library.sqrt(place.dots(probes, probes)))
    nodes, weights = _quadrature(product, leading, probes, place)
    weights = _reweighted(weights, nodes, float(columns - len(values)), max(power - float(values @ values), 0.0))
    others = np.sqrt(np.maximum(nodes, 0.0))
    total = values.sum() + (weights * others).sum()
    times_log = _times_log(values).sum() + (weights * _times_log(others)).sum()
    return max(float(values.max(initial=0.0)), float(others.max())), _rank(float(total), float(times_log))


def _reweighted(
    weights: NDArray[np.float64], nodes: NDArray[np.float64], count: float, power: float
) -> NDArray[np.float64]:
    """Weights that match two known sums: the number of singular values left, and the sum of their squares."""
    total = float(weights.sum())
    mean = float((weights * nodes).sum()) / total
    even = weights * (count / total)
    spread = float((weights * nodes * nodes).sum()) / total - mean**2
    if spread <= 0.0:
        return even
    tilted = even * (1.0 + (power / count - mean) / spread * (nodes - mean))
    return tilted if tilted.min() >= 0.0 else even


def _leading(product: Product, block: Held, place: Place) -> tuple[NDArray[np.float64], Held]:
    """Singular values with their right singular vectors, if their residuals are small."""
    qr = place.library.linalg.qr
    basis = qr(product(block))[0]
    square = np.zeros((KRYLOV_WIDTH * (KRYLOV_BLOCKS + 1),) * 2)
    for step in range(KRYLOV_BLOCKS):
        new, columns = product(basis[:, -KRYLOV_WIDTH:]), slice(step * KRYLOV_WIDTH, (step + 1) * KRYLOV_WIDTH)
        for _ in range(2):  # a single pass leaves the rounding errors of the large component that it removes
            projection = basis.T @ new
            new -= basis @ projection
            square[: len(projection), columns] += place.fetch(projection)
        new, triangle = qr(new)
        square[len(projection) : len(projection) + KRYLOV_WIDTH, columns] = place.fetch(triangle)
        new -= basis @ (basis.T @ new)  # once the space is exhausted, the new directions are only rounding errors
        basis = place.library.hstack([basis, qr(new)[0]])
    size = KRYLOV_WIDTH * KRYLOV_BLOCKS
    nodes, vectors = np.linalg.eigh((square[:size, :size] + square[:size, :size].T) / 2)
    residuals = np.linalg.norm(square[size:, size - KRYLOV_WIDTH : size] @ vectors[-KRYLOV_WIDTH:], axis=0)
    certain = (residuals < MAX_RESIDUAL * nodes) & (nodes > 0)
    return np.sqrt(nodes[certain]), basis[:, :size] @ place.put(vectors[:, certain].astype(np.float32))


def _quadrature(
    product: Product, leading: Held, starts: Held, place: Place
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lanczos from each start, orthogonal to the leading directions: nodes and weights, one row per start."""
    library, basis, diagonal, off_diagonal = place.library, [starts], [], []
    for _ in range(LANCZOS_STEPS):
        new = product(basis[-1])
        diagonal.append(place.dots(basis[-1], new))
        for _ in range(2):
            new -= leading @ (leading.T @ new)
            for old in basis:
                new -= old * place.single(place.dots(old, new))
        size = library.sqrt(place.dots(new, new))
        size[size < 1e-6 * diagonal[0]] = 0.0  # this start has no further direction
        off_diagonal.append(size)
        basis.append(new / place.single(library.where(size > 0, size, library.inf)))
    tridiagonal, at = np.zeros((starts.shape[1], LANCZOS_STEPS, LANCZOS_STEPS)), np.arange(LANCZOS_STEPS)
    tridiagonal[:, at, at] = place.fetch(library.stack(diagonal)).T
    tridiagonal[:, at[1:], at[:-1]] = place.fetch(library.stack(off_diagonal[:-1])).T
    nodes, vectors = np.linalg.eigh(tridiagonal)
    return nodes, np.square(vectors[:, 0, :])


def _rank(total: float, times_log: float) -> float:
    return exp(log(total) - times_log / total)


def _times_log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = values * np.log(np.where(values > 0, values, 1.0))
    return found


def _held_product(matrix: Matrix, place: Place) -> Product:
    held = place.put(matrix)
    return lambda columns: held.T @ (held @ columns)


def _streamed_product(strips: Strips, place: Place) -> Product:
    def product(columns: Held) -> Held:
        total = place.library.zeros_like(columns)
        for strip in strips():
            held = place.put(strip)
            total += held.T @ (held @ columns)
        return total

    return product


def _fastest() -> Place:
    """The GPU, or memory if torch is not installed or finds none."""
    try:
        import torch
    except ImportError:
        return Place()
    return Place(torch, "cuda") if torch.cuda.is_available() else Place()
