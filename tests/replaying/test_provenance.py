"""The operation at which a value first is not finite."""

import torch

from loganalyst.replaying.provenance import OperationWatch


def test_a_nan_keeps_the_operation_that_made_its_infinity():
    model = torch.nn.Sequential(torch.nn.Linear(1, 1))
    with OperationWatch(model) as watch:
        infinite = torch.log(torch.zeros(1))
        result = (infinite - infinite) + model(torch.ones(1))
        origin = watch.origin(result)

    assert (origin.operation, origin.kind, origin.module) == ("sub.Tensor", "NaN", "loss")
    assert (origin.root.operation, origin.root.kind, origin.root.size) == ("log", "Inf", 0.0)
    assert watch.first is origin.root


def test_values_that_are_overwritten_have_no_origin():
    with OperationWatch(torch.nn.Identity()) as watch:
        value = torch.log(torch.zeros(1))
        value.zero_()

    assert watch.origin(value) is None
