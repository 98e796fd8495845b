"""Trainings for the tests, each an entry function as a user writes it."""

import time

import torch

from loganalyst import ReplaySpec

ROWS, STEPS = 16, 120
torch.set_num_threads(1)


def data(bad: int | None = None):
    """A batch a step: y is a smooth function of x. In batch `bad` one value is NaN."""
    numbers = torch.Generator().manual_seed(1)
    x = torch.randn(STEPS, ROWS, 8, generator=numbers)
    y = x.sum(-1, keepdim=True).sin()
    if bad is not None:
        x[bad, 0, 0] = float("nan")
    return lambda step: (x[step % STEPS], y[step % STEPS])


def mse(model, batch):
    return torch.nn.functional.mse_loss(model(batch[0]), batch[1])


def spec(rate, batches, loss=mse, raised=None, **more) -> ReplaySpec:
    """A small network under SGD; from step `raised[0]` on the rate is `raised[1]` times as high."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: raised[1] if raised and step >= raised[0] else 1.0
    )
    return ReplaySpec(model, optimizer, loss, batches, scheduler=scheduler, **more)


def healthy() -> ReplaySpec:
    return spec(0.05, data())


def rate_too_high() -> ReplaySpec:
    """The rate rises eightyfold at step 60: the loss climbs until it overflows."""
    return spec(0.05, data(), raised=(60, 80.0))


def bad_batch() -> ReplaySpec:
    return spec(0.05, data(bad=70))


def log_of_zero() -> ReplaySpec:
    """A logarithm of what is 0 in one batch."""

    def loss(model, batch):
        x, y = batch
        share = torch.relu(x[:, 0] + 0.5).mean() if float(x[0, 0]) < 2.0 else x.mean() * 0
        return {"fit": mse(model, (x, y)), "prior": 0.01 * torch.log(share).abs()}

    return spec(0.05, data(), loss)


def hangs_in_the_loss() -> ReplaySpec:
    """The third batch never ends."""

    def loss(model, batch):
        while float(batch[0][0, 0]) == float(batches(52)[0][0, 0]):
            time.sleep(0.05)
        return mse(model, batch)

    batches = data()
    return spec(0.05, batches, loss)
