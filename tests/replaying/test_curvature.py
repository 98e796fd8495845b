"""Curvature where it is known exactly."""

import pytest
import torch

from loganalyst.replaying import curvature


@pytest.mark.parametrize("eigenvalues", [(1.0, 2.0, 5.0), (-7.0, 2.0, 5.0), (-5.0, -1.0, -0.5), (0.0, 0.0, 0.0)])
def test_the_largest_eigenvalue_is_not_that_of_largest_size(eigenvalues):
    turned = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(1)))[0]
    matrix = turned @ torch.diag(torch.tensor(eigenvalues)) @ turned.T

    found = curvature.largest_eigenvalue(lambda v: [matrix @ v[0]], [torch.zeros(3)], 200, 1e-6)

    assert found == pytest.approx(max(eigenvalues), abs=1e-3)


def test_the_hessian_times_a_vector_is_that_of_the_whole_matrix():
    first, second = torch.randn(2, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    unused = torch.randn(2, requires_grad=True)

    def loss(a, b):
        return (a @ b).tanh().square().sum() + (a**3).sum()

    along = [torch.randn(2, 3), torch.randn(3), torch.randn(2)]
    found = curvature.hessian_product(
        [loss(first, second) / 2, loss(first, second) / 2], [first, second, unused], along
    )
    blocks = torch.autograd.functional.hessian(loss, (first, second))
    whole = torch.cat(
        [torch.cat([b.reshape(a.numel(), -1) for b in row], 1) for a, row in zip((first, second), blocks, strict=True)]
    )

    expected = whole @ torch.cat([along[0].flatten(), along[1]])
    torch.testing.assert_close(torch.cat([found[0].flatten(), found[1]]), expected)
    torch.testing.assert_close(found[2], torch.zeros(2))
