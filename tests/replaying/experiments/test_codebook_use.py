"""Codebooks, routers and latent variables in use or not."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import codebook_use
from tests.replaying import entries
from tests.replaying.networks import chain, made, with_


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
def test_codebook_use(measure, model, outcome, words):
    found = measure(codebook_use, made(model(), rate=0.0))

    assert found.outcome == outcome
    assert words in found.text


def test_the_divergence_is_that_of_torch(measure):
    model = Latent(1.0)
    batches = entries.data()
    x = torch.cat([batches(i)[0] for i in range(3)])
    mean, log_variance = model.encoder(x).detach().chunk(2, -1)
    given = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    expected = torch.distributions.kl_divergence(given, torch.distributions.Normal(0.0, 1.0)).mean(0).sum()

    found = measure(codebook_use, made(model, rate=0.0), batches=3)

    assert found.values["KL of draw in model at the checkpoint"] == pytest.approx(float(expected), rel=1e-4)


def test_noise_and_an_accuracy_are_no_latent_and_no_code(measure):
    """Noise of a fixed size on an activation, and an argmax that nothing is looked up by."""

    def loss(model, batch):
        out = model[0](batch[0])
        accuracy = (out.argmax(-1) == 0).float().mean()
        return entries.mse(model[1:], (out + 0.1 * torch.randn_like(out), batch[1])) + 0 * accuracy

    assert measure(codebook_use, made(chain(nn.Tanh), loss)).outcome == INCONCLUSIVE
