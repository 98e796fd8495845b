"""The script that measures activations, compared with torch."""

import math

import pytest


def test_activation_statistics_are_torchs_and_leave_no_trace(script, torch, model):
    model.insert(1, torch.nn.BatchNorm1d(8))
    model[1].eval()  # frozen on purpose
    inputs = torch.randn(64, 4)
    with torch.no_grad():
        hidden = model[1](model[0](inputs)).relu()
    found = script("activation_statistics")(model, lambda: model(inputs))

    assert list(found["layers"]) == ["0", "1", "2", "3"]
    assert found["layers"]["2"] == {
        "mean": pytest.approx(hidden.mean().item(), rel=1e-6),
        "std": pytest.approx(hidden.std(correction=0).item(), rel=1e-6),
        "zeros": pytest.approx((hidden == 0).sum().item() / hidden.numel()),
        "dead": (hidden == 0).all(0).float().mean().item(),
        "same": (hidden == 0).all(0).float().mean().item(),
        "nonfinite": 0.0,
    }
    assert found["suspicious"] == []
    assert [module.training for module in model] == [True, False, True, True]
    assert all(not module._forward_hooks for module in model.modules())


def test_activation_statistics_name_dead_units_and_outputs_that_ignore_the_input(script, torch, model):
    with torch.no_grad():
        model[0].bias[:6] = -100.0
        model[2].weight.zero_()
    found = script("activation_statistics")(model, lambda: model(torch.randn(200, 4)))

    assert found["layers"]["1"]["dead"] == 0.75
    assert found["suspicious"] == ["1: 75% of its units are dead", "2: its output is the same for every input"]


def test_activation_statistics_name_layers_that_are_silent_or_not_finite(script, torch):
    model = torch.nn.Sequential(torch.nn.ReLU())
    seldom = 2 * torch.eye(20) - 1  # each unit wakes for one input of 20
    measure = script("activation_statistics")

    assert measure(model, lambda: model(seldom))["suspicious"] == ["0: 95% of its output is exactly 0"]
    seldom[0, 0] = math.inf
    assert measure(model, lambda: model(seldom))["suspicious"][0] == "0: 0.25% of its output is not finite"


def test_units_of_convolutions_lie_along_axis_1_and_calls_are_numbered(script, torch):
    convolution, relu = torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU()
    model = torch.nn.ModuleDict({"convolution": convolution, "relu": relu})
    with torch.no_grad():
        convolution.bias[0] = -100.0
    images = torch.rand(16, 1, 8, 8)
    found = script("activation_statistics")(model, lambda: relu(relu(convolution(images))))

    assert list(found["layers"]) == ["convolution", "relu", "relu#2"]
    assert found["layers"]["relu"]["dead"] == (relu(convolution(images)) == 0).all(dim=(0, 2, 3)).float().mean().item()
    assert found["layers"]["relu"] == found["layers"]["relu#2"]


def test_the_output_of_a_recurrent_layer_is_measured(script, torch):
    model, inputs = torch.nn.LSTM(4, 8, batch_first=True), torch.randn(16, 5, 4)
    found = script("activation_statistics")(model, lambda: model(inputs))

    assert found["layers"]["(model)"]["mean"] == pytest.approx(model(inputs)[0].mean().item(), rel=1e-5)


def test_the_axis_of_the_units_can_be_given(script, torch):
    model = torch.nn.Sequential(torch.nn.ReLU())
    signal = torch.ones(10, 4, 6)  # inputs, channels, places
    signal[:, 0] = -1
    measure = script("activation_statistics")

    assert measure(model, lambda: model(signal), axis=1)["layers"]["0"]["dead"] == 0.25
    assert measure(model, lambda: model(signal))["layers"]["0"]["dead"] == 0.0
