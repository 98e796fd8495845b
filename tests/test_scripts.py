"""The diagnostic scripts: handed out by the command, run as the user would run them, and compared with torch."""

import ast
import json
import math
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from loganalyst import cli
from loganalyst.scripts import summary, templates

NAMES = [
    "activation_statistics",
    "codebook_statistics",
    "gradient_norms",
    "input_statistics",
    "loss_components",
    "memory",
    "one_batch_overfit",
    "parameter_shares",
]


def run(*arguments: object) -> int:
    """The exit code of the command line, called in this process."""
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    return int(stop.value.code or 0)


@pytest.fixture
def script(tmp_path):
    """The function of a script that the command has written, loaded from that file."""

    def load(name: str):
        if not (tmp_path / f"{name}.py").exists():
            assert run("script", name, "-o", tmp_path / f"{name}.py") == 0
        return runpy.run_path(str(tmp_path / f"{name}.py"))[name]

    return load


@pytest.fixture
def torch():
    found = pytest.importorskip("torch", reason="the scripts measure torch models, and torch is not installed")
    found.manual_seed(0)
    return found


@pytest.fixture
def model(torch):
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def test_without_a_name_all_are_listed(capsys):
    assert run("script") == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line.split()[0] for line in lines] == NAMES
    assert lines[2] == "gradient_norms         Which layers get gradients, and how large they are."


def test_a_name_prints_the_script(capsys):
    assert run("script", "memory") == 0
    assert capsys.readouterr().out == templates()["memory"]


def test_a_script_is_written_and_never_over_a_file(tmp_path, capsys):
    file = tmp_path / "norms.py"
    assert run("script", "gradient_norms", "-o", file) == 0
    assert file.read_text() == templates()["gradient_norms"]

    file.write_text("mine")
    assert run("script", "gradient_norms", "-o", file) == 2
    assert file.read_text() == "mine"
    assert f"{file}: exists already; a script never replaces a file" in capsys.readouterr().err


def test_a_script_is_not_written_through_a_dangling_link(tmp_path):
    (tmp_path / "link.py").symlink_to(tmp_path / "elsewhere.py")

    assert run("script", "memory", "-o", tmp_path / "link.py") == 2
    assert not (tmp_path / "elsewhere.py").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gradient-norm"], "gradient-norm: no such script; did you mean 'gradient_norms'?"),
        (["zzz"], f"zzz: no such script; there are {', '.join(NAMES)}"),
        (["-o", "x.py"], "-o needs the NAME of a script"),
        (["memory", "-o", "no/such/folder.py"], "no/such/folder.py: cannot be written"),
    ],
)
def test_misuse_is_told(arguments, complaint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert run("script", *arguments) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_script_tells_what_it_shows_how_to_call_it_and_what_is_suspicious(name):
    text = templates()[name]
    help_ = ast.get_docstring(ast.parse(text))
    lines = help_.splitlines()

    assert 20 < len(summary(text)) < 100
    assert lines[1] == ""
    assert all(line.startswith("    ") for line in lines[2:5])
    assert help_.count("\nHealthy: ") == help_.count("\nSuspicious: ") == 1
    assert f"{name}(" in help_
    assert text.count("\n") <= 75


def test_the_scripts_that_rules_name_exist():
    """A reader who is told to call one finds it."""
    rules = (Path(__file__).parents[1] / "rules").rglob("*.yaml")
    named = {n for file in rules for n in re.findall(r"loganalyst script (\w+)", file.read_text(encoding="utf-8"))}

    assert named >= {"gradient_norms", "one_batch_overfit"}
    assert named <= {*NAMES}


# gradient_norms


def test_gradient_norms_are_torchs(script, torch, model):
    model(torch.randn(32, 4)).square().mean().backward()
    first = [p.grad.flatten() for p in model[0].parameters()]
    found = script("gradient_norms")(model)

    assert list(found["layers"]) == ["0", "2"]
    assert found["layers"]["0"]["norm"] == torch.cat(first).norm().item()
    assert found["layers"]["0"]["size"] == 40
    assert found["total"] == pytest.approx(
        torch.nn.utils.get_total_norm(p.grad for p in model.parameters()).item(), rel=1e-6
    )
    assert found["suspicious"] == []


def test_gradient_norms_name_dead_units_and_layers_that_get_nothing(script, torch, model):
    with torch.no_grad():
        model[0].bias[:7] = -100.0
    model.append(torch.nn.Linear(3, 3))
    model[:3](torch.rand(32, 4) + 1).square().mean().backward()
    found = script("gradient_norms")(model)

    zeros = torch.cat([p.grad.flatten() for p in model[0].parameters()]).eq(0).sum().item()
    assert found["layers"]["0"]["zeros"] == pytest.approx(zeros / 40)
    assert found["layers"]["3"] == {"size": 0, "norm": None, "zeros": None}
    assert "3: no gradient reaches it" in found["suspicious"]
    assert any(text.startswith("0: ") and text.endswith("of its gradient is exactly 0") for text in found["suspicious"])


def test_gradient_norms_name_the_layer_that_starves_and_the_one_that_overflows(script, torch, model):
    model(torch.randn(32, 4)).square().mean().backward()
    model[0].weight.grad.mul_(1e-9)
    model[0].bias.grad.mul_(1e-9)
    [starved] = script("gradient_norms")(model)["suspicious"]
    model[2].bias.grad[0] = math.inf
    overflowing = script("gradient_norms")(model)["suspicious"]

    assert starved.startswith("0: its gradient is ")
    assert "2: its gradient is not finite" in overflowing


def test_gradient_norms_tell_a_gradient_that_vanished_as_a_whole(script, torch, model):
    (1e-6 * model(torch.randn(32, 4)).square().mean()).backward()
    found = script("gradient_norms")(model)

    assert found["suspicious"] == [f"the whole gradient is {found['total']:.2g}"]


def test_rows_of_an_embedding_that_a_batch_does_not_use_are_no_fault(script, torch):
    model = torch.nn.Sequential(torch.nn.Embedding(100, 4, sparse=True), torch.nn.Linear(4, 1))
    model(torch.tensor([1, 1, 2])).sum().backward()
    found = script("gradient_norms")(model)

    assert found["layers"]["0"]["zeros"] == pytest.approx(0.98)
    assert found["suspicious"] == []


# one_batch_overfit


def loss_of(model, batch):
    from torch.nn.functional import cross_entropy

    return cross_entropy(model(batch[0]), batch[1])


def test_one_batch_overfit_trains_as_torch_does_and_leaves_the_model_alone(script, torch, model):
    from copy import deepcopy

    batch = torch.randn(16, 4), torch.randint(3, (16,))
    before, random = deepcopy(model.state_dict()), torch.get_rng_state()
    found = script("one_batch_overfit")(model, loss_of, batch, steps=400, rate=0.05)

    assert torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert [p.grad for p in model.parameters()] == [None] * 4
    losses, twin = [], deepcopy(model)
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        loss = loss_of(twin, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert found["losses"] == losses
    assert found["drop"] == (losses[0] - losses[-1]) / losses[0] > 0.9
    assert found["still"] == found["suspicious"] == []


def test_one_batch_overfit_leaves_dropout_out_and_keeps_the_mode(script, torch, model):
    model.insert(2, torch.nn.Dropout(0.9))
    batch = torch.randn(16, 4), torch.randint(3, (16,))
    found = script("one_batch_overfit")(model, loss_of, batch, steps=400, rate=0.05)

    assert found["drop"] > 0.9
    assert model[2].training


def test_one_batch_overfit_names_what_cannot_be_learned_and_what_never_moves(script, torch, model):
    model.append(torch.nn.Linear(3, 1))  # is not used
    batch = torch.zeros(16, 4), torch.tensor([0, 1, 2, 2] * 4)  # same inputs, other labels
    found = script("one_batch_overfit")(model, lambda m, b: loss_of(m[:3], b), batch, steps=50)

    assert found["still"] == ["0.weight", "3.weight", "3.bias"]  # inputs of 0 move no weight of the first layer
    assert found["suspicious"][0] == "0.weight never moved"
    assert (
        found["suspicious"][-1] == f"the loss fell by only {found['drop']:.1%} in 50 steps: this batch is not learned"
    )


def test_one_batch_overfit_tells_a_loss_that_is_not_finite(script, torch, model):
    batch = torch.full((4, 4), math.nan), torch.zeros(4, dtype=torch.long)

    assert script("one_batch_overfit")(model, loss_of, batch, steps=2)["suspicious"] == ["the loss is not finite"]


# input_statistics


def test_input_statistics_are_torchs(script, torch):
    inputs, labels = torch.randn(100, 2, 3), torch.arange(100) % 4
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=8)
    found = script("input_statistics")(loader)

    assert (found["rows"], found["nonfinite"], found["repeated"]) == (100, 0, 0.0)
    assert (found["min"], found["max"]) == (inputs.min().item(), inputs.max().item())
    assert found["mean"] == pytest.approx(inputs.double().mean().item(), abs=1e-12)
    assert found["std"] == pytest.approx(inputs.double().std(correction=0).item(), rel=1e-12)
    assert found["labels"] == {0: 25, 1: 25, 2: 25, 3: 25}
    assert found["suspicious"] == []


def test_input_statistics_name_every_fault(script, torch):
    inputs = torch.arange(400.0).reshape(100, 4)
    inputs[1] = inputs[0]
    inputs[2] = inputs[0]
    inputs[5, 0], inputs[6, 0] = math.nan, -math.inf
    labels = torch.zeros(100, dtype=torch.long)
    labels[0] = 1
    found = script("input_statistics")([{"x": inputs, "y": labels}], inputs="x", labels="y")

    assert found["suspicious"] == [
        "2 inputs and 0 labels are not finite",
        "inputs reach from 0 to 399: not scaled",
        "99 of 100 rows have the commonest label, 1 the rarest of 2",
        "2.0% of the rows were seen before",
    ]


def test_input_statistics_take_token_ids_and_half_precision_and_no_labels(script, torch):
    tokens = torch.arange(50_000).reshape(10, 5_000)
    found = script("input_statistics")([(tokens,)], labels=None)
    half = script("input_statistics")([(torch.ones(4, dtype=torch.bfloat16), torch.tensor([0.5, math.nan, 1, 1]))])

    assert (found["max"], found["labels"], found["suspicious"]) == (49_999, {}, [])
    assert half["suspicious"] == [
        "0 inputs and 1 labels are not finite",
        "all inputs are 1",
        "75.0% of the rows were seen before",
    ]


@pytest.mark.parametrize(
    ("rare", "suspicious"), [(1, ["101 of 203 rows have the commonest label, 1 the rarest of 3"]), (2, [])]
)
def test_a_label_100_times_rarer_than_another_is_named(rare, suspicious, script, torch):
    labels = torch.tensor([0] * 101 + [1] * (102 - rare) + [2] * rare)

    assert script("input_statistics")([(torch.randn(203, 4), labels)])["suspicious"] == suspicious


def test_a_batch_may_be_one_tensor(script, torch):
    found = script("input_statistics")([torch.eye(8), 2 * torch.eye(8)])

    assert (found["rows"], found["max"], found["mean"], found["labels"]) == (16, 2.0, 24 / 128, {})
    assert found["suspicious"] == []


def test_input_statistics_stop_after_the_batches_asked_for(script, torch):
    endless = iter(lambda: (torch.randn(2, 3), torch.tensor([0, 1])), None)

    assert script("input_statistics")(endless, batches=3)["rows"] == 6


# loss_components


def test_loss_components_are_torchs(script, torch, model):
    output = model(torch.randn(8, 4))
    terms = {"fit": output.square().mean(), "size": 0.1 * output.abs().mean()}
    found = script("loss_components")(model, terms)
    gradients = {}
    for name, term in terms.items():
        model.zero_grad()
        term.backward(retain_graph=True)
        gradients[name] = torch.cat([p.grad.flatten() for p in model.parameters()])

    for name, other in [("fit", "size"), ("size", "fit")]:
        term = found["terms"][name]
        assert term["value"] == terms[name].item()
        assert term["gradient"] == pytest.approx(gradients[name].norm().item(), rel=1e-6)
        cosine = torch.cosine_similarity(gradients[name], gradients[other], dim=0).item()
        assert term["cosine"] == pytest.approx(cosine, rel=1e-5)
    assert found["terms"]["fit"]["share"] == pytest.approx(terms["fit"].item() / sum(terms.values()).item(), rel=1e-6)
    assert sum(term["gradient_share"] for term in found["terms"].values()) == pytest.approx(1)
    assert found["suspicious"] == []


def test_loss_components_leave_gradients_alone_and_the_graph_usable(script, torch, model):
    terms = {"all": model(torch.randn(8, 4)).square().mean()}
    script("loss_components")(model, terms)

    assert [p.grad for p in model.parameters()] == [None] * 4
    terms["all"].backward()


def test_loss_components_name_terms_that_drown_detach_oppose_or_overflow(script, torch, model):
    output = model(torch.randn(8, 4))
    loss = output.square().mean()
    found = script("loss_components")
    drowned = found(model, {"big": 1000 * loss, "small": output.mean()})
    detached = found(model, {"fit": loss, "off": loss.detach() * 2})
    opposed = found(model, {"fit": loss, "against": -0.9 * loss})
    overflowed = found(model, {"fit": loss, "nan": loss * math.nan})

    assert [text.split(" ", 3)[:3] for text in drowned["suspicious"]] == [["big:", "it", "has"]] * 2
    assert detached["suspicious"] == ["fit: it has 100.0% of the gradient", "off: it has no gradient"]
    assert opposed["suspicious"] == ["fit: it pulls against the rest", "against: it pulls against the rest"]
    assert opposed["terms"]["fit"]["cosine"] == pytest.approx(-1)
    assert "nan: its value or its gradient is not finite" in overflowed["suspicious"]


# activation_statistics


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


def test_units_of_convolutions_lie_along_axis_1_and_calls_are_told_apart(script, torch):
    convolution, relu = torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU()
    model = torch.nn.ModuleDict({"convolution": convolution, "relu": relu})
    with torch.no_grad():
        convolution.bias[0] = -100.0
    images = torch.rand(16, 1, 8, 8)
    found = script("activation_statistics")(model, lambda: relu(relu(convolution(images))))

    assert list(found["layers"]) == ["convolution", "relu", "relu#2"]
    assert found["layers"]["relu"]["dead"] == (relu(convolution(images)) == 0).all(dim=(0, 2, 3)).float().mean().item()
    assert found["layers"]["relu"] == found["layers"]["relu#2"]


def test_of_a_recurrent_layer_the_output_is_measured(script, torch):
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


# codebook_statistics


def test_codebook_statistics_are_exact(script, torch):
    codes, codebook = torch.tensor([0] * 30 + [1] * 10), torch.tensor([[3.0, 4.0], [0.0, 1.0], [0.0, 7.0], [9.0, 0.0]])
    found = script("codebook_statistics")(codes.reshape(2, 20), codebook)

    assert found == {
        "codes": 40,
        "entries": 4,
        "used": 2,
        "perplexity": pytest.approx(math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25)), rel=1e-12),
        "share": pytest.approx(found["perplexity"] / 4),
        "top_share": 0.75,
        "used_norm": 3.0,
        "unused_norm": 8.0,
        "suspicious": ["1.75 of 4 entries are in use"],
    }


def test_a_codebook_in_full_use_is_healthy_and_too_few_codes_judge_nothing(script, torch):
    measure, codebook = script("codebook_statistics"), torch.nn.Embedding(64, 2).weight
    full = measure(torch.arange(640) % 64, codebook)
    seven, six = (measure(torch.arange(840) % used, codebook) for used in (7, 6))
    few = measure(torch.zeros(639, dtype=torch.long), codebook)

    assert (full["perplexity"], full["used"], full["unused_norm"]) == (pytest.approx(64), 64, None)
    assert full["suspicious"] == few["suspicious"] == seven["suspicious"] == []
    assert six["suspicious"] == ["6 of 64 entries are in use"]


@pytest.mark.parametrize("codes", [[4], [-1], []])
def test_codes_outside_the_codebook_are_refused(codes, script, torch):
    with pytest.raises(ValueError, match="codes must be indices from 0 to 3, at least one"):
        script("codebook_statistics")(torch.tensor(codes), torch.zeros(4, 2))


# parameter_shares


def test_parameter_shares_are_exact_and_count_tied_weights_once(script, torch):
    model = torch.nn.ModuleDict({"table": torch.nn.Embedding(10, 4), "head": torch.nn.Linear(4, 10, bias=False)})
    model["head"].weight = model["table"].weight
    model["body"] = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 12))
    model["body"][0].bias.requires_grad_(False)
    found = script("parameter_shares")(
        model, torch.optim.SGD(p for p in model.parameters() if p.requires_grad), depth=1
    )

    assert found == {
        "total": 120,
        "embedding": 40,
        "frozen": 4,
        "embedding_share": 40 / 120,
        "parts": {"table": 40, "body": 80},
        "left_out": [],
        "suspicious": [],
    }


def test_parameter_shares_name_what_the_optimiser_does_not_know(script, torch, model):
    optimizer = torch.optim.SGD(model.parameters())
    model.append(torch.nn.Embedding(100, 3))
    found = script("parameter_shares")(model, optimizer)

    assert found["left_out"] == ["3.weight"]
    assert found["suspicious"] == ["3.weight is not in the optimiser", "embeddings have 82% of the parameters"]


def test_a_model_without_anything_to_train_is_suspicious(script, torch, model):
    assert script("parameter_shares")(model.requires_grad_(False))["suspicious"] == ["nothing is trained"]


# memory


def test_memory_sums_are_those_of_the_tensors(script, torch, model):
    model.insert(1, torch.nn.BatchNorm1d(8))
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()

    found = script("memory")(model, optimizer, step, steps=5)

    weights = 4 * (4 * 8 + 8 + 8 + 8 + 8 * 3 + 3)
    assert (found["weights"], found["gradients"]) == (weights, weights)
    assert found["optimizer"] == 2 * weights + 6 * 4  # two moments, and a counter for each of six parameters
    assert found["buffers"] == 2 * 8 * 4 + 8  # running mean and variance, and the number of batches
    assert len(found["held"]) == 5
    assert found["suspicious"] == []


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell the resident memory")
def test_memory_names_a_leak(script, torch, model):
    optimizer, kept = torch.optim.SGD(model.parameters()), []
    found = script("memory")(model, optimizer, lambda: kept.append(torch.ones(4 * 2**20)), steps=8)

    assert found["rising"] == 1.0
    assert found["held"][-1] - found["held"][2] > 4 * 16 * 2**20
    assert found["suspicious"] == [f"memory rose in 100% of the steps, by {found['growth']:.1%} in 5 steps"]


@pytest.mark.parametrize(
    ("held", "suspicious"),
    [
        ([50, 90, 100, 101, 103, 107, 115], ["memory rose in 100% of the steps, by 15.0% in 4 steps"]),
        ([50, 90, 100, 130, 110, 120, 115], []),  # up and down
        ([50, 90, 1000, 1001, 1002, 1003, 1004], []),  # less than one in a hundred
    ],
)
def test_on_a_gpu_memory_reads_the_allocator(held, suspicious, script, torch, monkeypatch):
    """Without a GPU: the figures are given in place of the allocator's, what is made of them is checked."""
    weight = SimpleNamespace(device=torch.device("cuda"), grad=None, numel=lambda: 10, element_size=lambda: 2)
    model = SimpleNamespace(parameters=lambda: iter([weight]), buffers=list)
    after = iter(held)
    figures = {
        "reset_peak_memory_stats": lambda device: None,
        "memory_allocated": lambda device: next(after),
        "max_memory_reserved": lambda device: 190,
        "get_device_properties": lambda device: SimpleNamespace(total_memory=200),
    }
    for name, figure in figures.items():
        monkeypatch.setattr(torch.cuda, name, figure)
    found = script("memory")(model, SimpleNamespace(state={}), lambda: None, steps=7)

    assert (found["weights"], found["peak"], found["device"]) == (20, 190, 200)
    assert (found["held"], found["growth"]) == (held, pytest.approx(held[-1] / held[2] - 1))
    assert found["suspicious"] == [*suspicious, "the peak is 95% of the device"]


# all


def test_a_script_says_that_nothing_is_suspicious(script, torch, model, capsys):
    script("parameter_shares")(model)

    assert capsys.readouterr().out.splitlines()[1:] == [
        f"{'0':<48} {40:>14} {'59.7%':>7}",
        f"{'2':<48} {27:>14} {'40.3%':>7}",
        f"{'total':<48} {67:>14} {'100.0%':>7}",
        f"{'embedding':<48} {0:>14} {'0.0%':>7}",
        f"{'frozen':<48} {0:>14} {'0.0%':>7}",
        "suspicious: nothing",
    ]


def test_what_a_script_returns_is_plain(script, torch, model):
    """A dict that JSON can carry, so that it can be logged as it is."""
    model(torch.randn(8, 4)).sum().backward()
    found = [script("gradient_norms")(model), script("parameter_shares")(model)]

    assert json.loads(json.dumps(found)) == found
