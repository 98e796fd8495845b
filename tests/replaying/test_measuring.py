"""The experiments that measure: each on a training with the fault and on a healthy one, in this process."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from loganalyst import ReplaySpec
from loganalyst.pipeline import catalogue
from loganalyst.replaying.experiment import INCONCLUSIVE, find
from tests.replaying import entries


@pytest.fixture
def run(bench, limits):
    """What an experiment measures on a spec at its first step; `limits` are of rules/replay.yaml, but for `changed`."""

    def measured(name, made, *, start=0, length=10, **changed):
        found = find(name)(bench(made, start=start, steps=length, limits={**limits(name), **changed}), 0)
        assert found.outcome in {*catalogue().experiments[name].outcomes, INCONCLUSIVE}
        return found

    return measured


def made(model, loss=entries.mse, batches=None, trained=None, rate=0.05, **more):
    """A training of a model under SGD; `trained` are the parameters that the optimiser has."""
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(list(trained or model.parameters()), lr=rate)
    return ReplaySpec(model, optimizer, loss, batches or entries.data(), **more)


def chain(activation, depth=3, width=16):
    torch.manual_seed(0)
    hidden = [part for _ in range(depth) for part in (nn.Linear(width, width), activation())]
    return nn.Sequential(nn.Linear(8, width), activation(), *hidden, nn.Linear(width, 1))


def with_(model, change):
    """The model after a change of its weights."""
    with torch.no_grad():
        change(model)
    return model


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = chain(nn.Tanh), nn.Linear(1, 1)

    def forward(self, x):
        return self.head(self.body(x).detach())


class TwoPaths(nn.Module):
    """A narrow path whose input is scaled to almost nothing, beside an ordinary one."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow, self.head = nn.Linear(8, 4), nn.Linear(8, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.wide(x)) + 1e-8 * torch.tanh(self.narrow(x)))


def dies(model):
    model[2].bias.fill_(-1e3)


@pytest.mark.parametrize(
    ("spec", "outcome", "words"),
    [
        (lambda: made(chain(nn.Tanh)), "ordinary", "layers lie within a factor of"),
        (lambda: made(chain(nn.Sigmoid, 10)), "vanishing", "that of 22; from layer to layer it grows evenly"),
        (lambda: made(TwoPaths()), "starved", "the gradient of narrow is"),
        (lambda: made(Detached()), "still", "no gradient reaches them: body.0.weight, body.0.bias, body.2.weight and"),
        (lambda: made(m := chain(nn.Tanh), trained=m[-1].parameters()), "still", "the optimiser does not have them"),
        (lambda: made(chain(nn.Tanh), rate=1e-12), "still", "their updates are lost in rounding"),
        (lambda: made(chain(nn.Tanh), rate=0.0), "no_rate", "their rate is 0"),
        (lambda: made(with_(chain(nn.ReLU), dies)), "zero", "is exactly 0 (0.bias, 0.weight, 2.bias and"),
    ],
)
def test_gradient_norms(run, spec, outcome, words):
    found = run("gradient_norms", spec())

    assert found.outcome == outcome
    assert words in found.text
    assert found.reproduced is (outcome != "ordinary")


def test_gradients_that_half_precision_loses_are_told_from_zeros(run):
    def tiny(model, batch):
        return 1e-9 * entries.mse(model, batch)

    lost = run("gradient_norms", made(chain(nn.Tanh), tiny, rate=1e6, precision="float16"))
    scaled = torch.amp.GradScaler("cpu", init_scale=2.0**28)
    kept = run("gradient_norms", made(chain(nn.Tanh), tiny, rate=1e6, precision="float16", scaler=scaled), nothing=0)

    assert lost.outcome == "underflow"
    assert kept.outcome == "ordinary"


def test_a_gradient_that_grows_is_told_from_a_loss_that_rises_without(run):
    def harder(step):
        x, y = entries.data()(step)
        return x, y * (3 if step >= 5 else 1)

    grows = run("gradient_norms", entries.rate_too_high(), start=50, length=20)
    rises = run("gradient_norms", made(chain(nn.Tanh), batches=harder))

    assert (grows.outcome, grows.reproduced) == ("exploding", True)
    assert (rises.outcome, rises.reproduced) == ("calm", True)


class Functions(nn.Module):
    """Activations that are functions, after a convolution: units are its channels."""

    def __init__(self, bias):
        super().__init__()
        self.conv, self.head = nn.Conv1d(1, 4, 3), nn.Linear(24, 1)
        with_(self.conv, lambda conv: conv.bias.copy_(torch.tensor(bias)))

    def forward(self, x):
        return self.head(functional.relu(self.conv(x[:, None])).flatten(1))


@pytest.mark.parametrize(
    ("model", "outcome", "words"),
    [
        (lambda: chain(nn.ReLU), "alive", "after 10 steps at most"),
        (lambda: chain(nn.Tanh), "alive", "0% saturated"),
        (
            lambda: with_(chain(nn.ReLU), dies),
            "dead",
            "100% of the units of 3 (relu) never pass anything in 160 samples",
        ),
        (lambda: Functions([-99.0, -99.0, -99.0, 0.0]), "dead", "75% of the units of model (relu)"),
        (lambda: Functions([-99.0, -99.0, 0.0, 0.0]), "alive", "at most 50% of a layer's units are dead"),
        (lambda: with_(chain(nn.Tanh), lambda m: m[2].weight.mul_(1e3)), "saturated", "of the units of 3 (tanh) are"),
        (lambda: nn.Sequential(chain(nn.Tanh), nn.Sigmoid()), "alive", ""),
        (lambda: with_(chain(nn.GELU), lambda m: m[-1].weight.zero_()), "constant", "the same for every input"),
    ],
)
def test_activation_statistics(run, model, outcome, words):
    found = run("activation_statistics", made(model(), rate=0.0 if outcome == "constant" else 0.01))

    assert found.outcome == outcome
    assert words in found.text


def test_units_that_die_in_the_replayed_steps_are_seen(run):
    """At the checkpoint they are alive; a rate far too high kills them."""

    def pushed(step):
        x, y = entries.data()(step)
        return (x, y) if step != 3 else (x, y - 1e4)

    found = run("activation_statistics", made(chain(nn.ReLU), batches=pushed))

    assert found.outcome == "dead"
    assert found.text.startswith("after ")


class Quantised(nn.Module):
    """A codebook of 16 entries; `spread` is how far those lie from each other."""

    def __init__(self, spread):
        super().__init__()
        torch.manual_seed(0)
        self.encoder, self.decoder = nn.Linear(8, 2), nn.Linear(2, 1)
        self.codes = nn.Parameter(spread * torch.randn(16, 2))

    def forward(self, x):
        h = self.encoder(x)
        z = functional.embedding(torch.cdist(h, self.codes).argmin(-1), self.codes)
        return self.decoder(h + (z - h).detach())


class Router(nn.Linear):
    """A router that chooses within its own module."""

    def forward(self, x):
        return super().forward(x).softmax(-1).topk(1)


class Experts(nn.Module):
    def __init__(self, bias):
        super().__init__()
        torch.manual_seed(0)
        self.router, self.experts = Router(8, 4), nn.Parameter(torch.randn(4, 8))
        with_(self.router, lambda router: router.bias.copy_(torch.tensor(bias)))

    def forward(self, x):
        gates, places = self.router(x)
        return (self.experts[places[:, 0]] * x).sum(-1, keepdim=True) * gates


class Latent(nn.Module):
    """A variational encoder: means and logarithms of variances are `wide` times as large as drawn."""

    def __init__(self, wide):
        super().__init__()
        torch.manual_seed(0)
        self.encoder, self.decoder = nn.Linear(8, 8), nn.Linear(4, 1)
        with_(self.encoder, lambda encoder: [p.mul_(wide) for p in encoder.parameters()])

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, -1)
        return self.decoder(mean + torch.randn_like(mean) * (0.5 * log_variance).exp())


class Drawn(Latent):
    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, -1)
        return self.decoder(torch.distributions.Normal(mean, log_variance.exp()).rsample())


@pytest.mark.parametrize(
    ("model", "outcome", "words"),
    [
        (lambda: Quantised(0.5), "codes_in_use", "16 of 16 entries are taken in 320 choices (argmin in model)"),
        (
            lambda: Quantised(1e3),
            "few_codes",
            "of 16 entries are taken in 320 choices (argmin in model), with a perplexity of",
        ),
        (lambda: Experts([0.0] * 4), "experts_busy", "4 of 4 experts are taken in 320 choices (topk in router)"),
        (
            lambda: Experts([50.0, 0.0, 0.0, 0.0]),
            "idle_experts",
            "1 of 4 experts are taken in 320 choices (topk in router)",
        ),
        (lambda: Latent(1.0), "latent_in_use", "4 of 4 latent dimensions carry more than 0.01 nats (draw in model)"),
        (lambda: Latent(1e-3), "collapsed", "0 of 4 latent dimensions carry"),
        (lambda: Drawn(1.0), "latent_in_use", "4 of 4"),
        (lambda: chain(nn.ReLU), INCONCLUSIVE, "nothing is chosen"),
    ],
)
def test_codebook_use(run, model, outcome, words):
    found = run("codebook_use", made(model(), rate=0.0))

    assert found.outcome == outcome
    assert words in found.text


def test_the_divergence_is_that_of_torch(run):
    model = Latent(1.0)
    batches = entries.data()
    x = torch.cat([batches(i)[0] for i in range(3)])
    mean, log_variance = model.encoder(x).detach().chunk(2, -1)
    given = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    expected = torch.distributions.kl_divergence(given, torch.distributions.Normal(0.0, 1.0)).mean(0).sum()

    found = run("codebook_use", made(model, rate=0.0), batches=3)

    assert found.values["KL of draw in model at the checkpoint"] == pytest.approx(float(expected), rel=1e-4)


def test_noise_and_an_accuracy_are_no_latent_and_no_code(run):
    """Noise of a fixed size on an activation, and an argmax that nothing is looked up by."""

    def loss(model, batch):
        out = model[0](batch[0])
        accuracy = (out.argmax(-1) == 0).float().mean()
        return entries.mse(model[1:], (out + 0.1 * torch.randn_like(out), batch[1])) + 0 * accuracy

    assert run("codebook_use", made(chain(nn.Tanh), loss)).outcome == INCONCLUSIVE


def parts(**factors):
    """A loss of two components that share the gradient about equally, each times its factor."""

    def loss(model, batch):
        out = model(batch[0])
        a, b = ((out - batch[1]) ** 2).mean(), ((out - batch[1] - 0.1) ** 2).mean()
        return {"near": factors.get("near", 1.0) * a, "far": factors.get("far", 1.0) * b}

    return loss


@pytest.mark.parametrize(
    ("loss", "more", "outcome"),
    [
        (parts(), {}, "balanced"),
        (parts(far=1e-3), {}, "drowned"),
        (parts(), {"weights": {"far": 1e-3}}, "drowned"),
        (lambda m, b: {**parts()(m, b), "fixed": torch.tensor(2.0)}, {}, "cut_off"),
        (lambda m, b: {"a": entries.mse(m, b), "b": -0.7 * m(b[0]).square().mean()}, {}, "opposed"),
        (lambda m, b: {"loss": sum((t := parts()(m, b)).values()), **t, "accuracy": torch.tensor(0.5)}, {}, "balanced"),
        (lambda m, b: {"loss": entries.mse(m, b), **parts()(m, b)}, {}, INCONCLUSIVE),
        (entries.mse, {}, INCONCLUSIVE),
    ],
)
def test_loss_components(run, loss, more, outcome):
    assert run("loss_components", made(chain(nn.Tanh, 1), loss, **more)).outcome == outcome


def test_the_share_of_the_gradient_is_that_of_the_weights(run):
    def twice(model, batch):
        return {"near": entries.mse(model, batch), "far": entries.mse(model, batch)}

    found = run("loss_components", made(chain(nn.Tanh, 1), twice, weights={"far": 0.25}))

    assert found.values["far, gradient_share"] == pytest.approx(0.2)
    assert found.values["far, share"] == pytest.approx(0.2)


def rows(change):
    """Batches of 16 rows with 3 classes; `change(x, y, i)` alters one."""

    def batch(i):
        numbers = torch.Generator().manual_seed(i)
        x = torch.randn(16, 8, generator=numbers)
        return change(x, torch.arange(16) % 3, i)

    return batch


def put(tensor, place, value):
    tensor[place] = value
    return tensor


@pytest.mark.parametrize(
    ("change", "outcome", "words"),
    [
        (lambda x, y, i: (x, y), "balanced", "nothing is unusual in 10 batches"),
        (lambda x, y, i: {"x": x, "y": y.float() + 0.5}, "sound", ""),
        (lambda x, y, i: (put(x, (0, 0), math.inf) if i == 7 else x, y), "nonfinite", "1 values of 0 in batch 7"),
        (lambda x, y, i: (x * 1e4 if i == 7 else x, y), "extreme", "in batch 7"),
        (lambda x, y, i: (x * 0 + 1, y), "constant", "all of 0 is 1, in each of 10 batches"),
        (lambda x, y, i: (torch.ones(16, 8).cumsum(0), y), "same_batch", "9 of 9 batches"),
        (lambda x, y, i: (x, y * 0 + i % 3), "sorted", "100% of a batch are of one class, of which all"),
        (lambda x, y, i: (x, (y == 0) & (x[:, 0] > 2.5)), "one_class", "rows are of class 0"),
        (lambda x, y, i: (put(x, 3, x[2]), put(y, 3, y[2])), "repeated", "10 of 160 rows were in the same batch"),
        (lambda x, y, i: (x * 255, y), "unscaled", "it is not scaled"),
        (lambda x, y, i: "text", INCONCLUSIVE, "no tensors"),
    ],
)
def test_input_statistics(run, change, outcome, words):
    found = run("input_statistics", made(chain(nn.Tanh), batches=rows(change)))

    assert found.outcome == outcome
    assert words in found.text
    assert found.values.get("step") == (7 if outcome in ("nonfinite", "extreme") else None)


def test_batches_of_a_list_are_looked_through_once(run):
    given = [rows(lambda x, y, i: (x, y))(0)]

    assert run("input_statistics", made(chain(nn.Tanh), batches=given)).outcome == "balanced"


def at_rest(model):
    """Dead: a rectifier that passes nothing, so that no gradient comes back."""
    model[2].bias.fill_(-1e3)


def constant_output(model, batch):
    """The model's output is lost on the way to the loss."""
    return ((0 * model(batch[0]) + 1 - batch[1]) ** 2).mean()


@pytest.mark.parametrize(
    ("spec", "outcome", "tries"),
    [
        (lambda: made(chain(nn.Tanh, 1), rate=0.2), "learned", 1),
        (lambda: made(chain(nn.Tanh, 1), rate=0.05), INCONCLUSIVE, 1),
        (lambda: made(chain(nn.Tanh, 1), rate=0.002), "higher_rate", 3),
        (lambda: made(chain(nn.Tanh, 1), rate=0.0), "another_optimiser", 4),
        (lambda: made(with_(chain(nn.ReLU), at_rest)), "afresh", 5),
        (lambda: made(chain(nn.Tanh, 1), constant_output), "not_learned", 5),
    ],
)
def test_one_batch_overfit(run, spec, outcome, tries):
    found = run("one_batch_overfit", spec(), rate=1e-2, steps=120)

    assert found.outcome == outcome
    assert len(found.series) == tries


def test_a_loss_at_its_floor_is_no_fault(run):
    """New weights begin higher and fall further, and come to no less than those of the checkpoint."""

    def floor(model, batch):
        return 0.5 + entries.mse(model, batch)

    spec = made(chain(nn.Tanh, 1), floor, batches=[entries.data()(0)], rate=0.2)

    assert run("one_batch_overfit", spec, start=150, rate=1e-2, steps=60).outcome == INCONCLUSIVE


@pytest.mark.parametrize("value", [0.0, math.nan])
def test_a_batch_without_a_loss_decides_nothing(run, value):
    def loss(model, batch):
        return model(batch[0]).sum() * value

    assert run("one_batch_overfit", made(chain(nn.Tanh, 1), loss), steps=3).outcome == INCONCLUSIVE


def test_learning_one_batch_leaves_the_checkpoint_as_it_was(bench, limits):
    there = bench(made(chain(nn.Tanh, 1)), limits=limits("one_batch_overfit"))
    before = copy.deepcopy(there.model.state_dict())

    find("one_batch_overfit")(there, 0)
    there.restore(0)

    assert all(torch.equal(before[name], now) for name, now in there.model.state_dict().items())


class Unsteady(nn.Linear):
    """Each call adds a little more than the last: a state that no checkpoint has."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) + 1e-6 * self.calls


@pytest.mark.parametrize(
    ("spec", "outcome", "note"),
    [
        (lambda: made(nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5), nn.Linear(4, 1))), "identical", None),
        (lambda: made(Unsteady(8, 1)), "operations", "repeated steps differ from step 0 on"),
        (
            lambda: made(nn.Linear(8, 1), batches=lambda i: (torch.randn(4, 8),) * 2),
            "batches",
            "batches(i) gives other",
        ),
        (entries.bad_batch, "identical", None),
    ],
)
def test_determinism(bench, limits, spec, outcome, note):
    there = bench(spec(), steps=80, limits={**limits("determinism"), "steps": 80})

    found = [find("determinism")(there, 0) for _ in range(2)][-1]

    assert found.outcome == outcome
    assert [n[: len(note)] for n in there.notes] == [note] if note else not there.notes
