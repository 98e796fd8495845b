"""Each counterfactual on a fault that it confirms, and on one of another cause that it refutes."""

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import moments_counterfactual
from tests.replaying import entries

# --- precision_counterfactual


def test_an_overflow_of_half_precision_vanishes_in_float32(run):
    """From batch 60 on a product of outputs is beyond 65,504, the largest number of float16."""
    batches = entries.data()
    late = {float(batches(i)[0][0, 0]) for i in range(60, entries.STEPS)}

    def loss(model, batch):
        out = model(batch[0]) * (4000.0 if float(batch[0][0, 0]) in late else 1.0)
        return (out @ out.T).mean() * 1e-9 + entries.mse(model, batch)

    found = run("precision_counterfactual", entries.spec(0.01, entries.data(), loss, precision="float16"))

    assert (found.outcome, found.reproduced) == ("vanished", True)
    assert found.values["lost"] < 0.1


def test_a_rate_too_high_stays_in_float32(run):
    made = entries.spec(0.05, entries.data(), raised=(60, 80.0), precision="float16")

    assert run("precision_counterfactual", made).outcome == "stayed"


def test_gradients_below_half_precision_are_counted(run):
    made = entries.spec(0.05, entries.data(), lambda m, b: entries.mse(m, b) * 1e-9, precision="float16")

    found = run("precision_counterfactual", made)

    assert found.outcome == "underflow"
    assert found.values["lost"] > 0.9


def test_a_loss_scale_keeps_them(run):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    made = entries.spec(0.05, entries.data(), lambda m, b: entries.mse(m, b) * 1e-4, precision="float16", scaler=scaler)

    found = run("precision_counterfactual", made)

    assert found.outcome == INCONCLUSIVE
    assert found.values["lost"] == 0.0


def test_a_training_in_float32_cannot_have_a_fault_of_half_precision(run):
    assert run("precision_counterfactual", entries.rate_too_high()).outcome == "single"


# --- batch_swap


def test_the_batch_and_the_sample_of_a_spike_are_named(run):
    def batches(i):
        x, y = whole(i)
        return (x, torch.cat([y[:11], y[11:12] * 300, y[12:]])) if i == 63 else (x, y)

    whole = entries.data()

    found = run("batch_swap", entries.spec(0.01, batches))

    assert (found.outcome, found.reproduced) == ("one_batch", True)
    assert (found.values["step"], found.values["batch"], found.values["samples"]) == (63, 63, "sample 11")
    assert "replacing that of step 63 alone is enough; the largest gradient in it has sample 11" in found.text


def test_a_batch_of_an_ordinary_loss_that_throws_the_weights_is_found(run):
    def loss(model, batch):
        steep = 1000.0 * torch.equal(batch[0], thrown) * model[2].weight.sum()
        return entries.mse(model, batch) + steep - steep.detach()

    thrown = entries.data()(60)[0]

    found = run("batch_swap", entries.spec(0.05, entries.data(), loss))

    assert (found.outcome, found.values["step"]) == ("one_batch", 60)


def test_one_of_the_batches_that_a_step_accumulates_is_named(run):
    made = entries.spec(0.05, entries.data(bad=73), accumulate=2)

    found = run("batch_swap", made, start=20)

    assert (found.outcome, found.values["step"], found.values["batch"]) == ("one_batch", 36, 73)


def test_data_that_is_harder_from_a_step_on_is_no_single_batch(run):
    whole = entries.data()

    found = run("batch_swap", entries.spec(0.01, lambda i: (whole(i)[0], whole(i)[1] * (4 if i >= 60 else 1))))

    assert found.outcome == "many_batches"


def test_a_rate_too_high_stays_with_other_batches(run):
    assert run("batch_swap", entries.rate_too_high()).outcome == "stayed"


def test_a_replay_without_a_fault_swaps_nothing(run):
    assert run("batch_swap", entries.healthy()).outcome == INCONCLUSIVE


def test_at_the_start_of_a_training_batches_from_beyond_the_replay_are_read(run):
    found = run("batch_swap", entries.spec(0.05, entries.data(bad=1)), start=0)

    assert (found.outcome, found.values["step"]) == ("one_batch", 1)


# --- moments_counterfactual


def settled(*, beta2=0.999, pulled=100.0, raised=1.0, eps=1e-8):
    """Adam after 100,000 quiet steps; in batch 10 a gradient of `pulled`, and from there on `raised` times the rate."""
    weight = torch.nn.Parameter(torch.zeros(8))
    optimizer = torch.optim.Adam([weight], lr=0.004, betas=(0.9, beta2), eps=eps)
    moments = {"exp_avg": torch.zeros(8), "exp_avg_sq": torch.full((8,), 6e-5)}
    optimizer.state[weight] = {"step": torch.tensor(1e5), **moments}
    places = torch.randn(200, 8, generator=torch.Generator().manual_seed(1)) * 0.03

    def loss(model, i):
        pull = (pulled if i == 10 else 0.0) * model["weight"].sum()
        return 0.005 + (model["weight"] - places[i % 200]).square().mean() + pull - pull.detach()

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: raised if i >= 10 else 1.0)
    return ReplaySpec(torch.nn.ParameterDict({"weight": weight}), optimizer, loss, lambda i: i, scheduler=schedule)


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (settled(), "vanished"),
        (settled(pulled=0.0, raised=100.0), "stayed"),
        (settled(pulled=0.0), INCONCLUSIVE),
        (settled(beta2=0.95, eps=1e-6), INCONCLUSIVE),
        (entries.rate_too_high(), INCONCLUSIVE),
    ],
    ids=["stale", "rate-too-high", "healthy", "nothing-to-change", "no-adam"],
)
def test_a_faster_second_moment_decides(run, made, outcome):
    assert run("moments_counterfactual", made, start=0).outcome == outcome


def test_a_young_second_moment_stands_for_the_same_under_another_beta2(bench):
    """What Adam divides by is as before the change, though its correction of the bias is another."""

    def divisor():
        state, beta2 = made.optimizer.state[weight], made.optimizer.param_groups[0]["betas"][1]
        return (state["exp_avg_sq"] / (1 - beta2 ** state["step"])).sqrt()

    made = settled()
    weight = made.model["weight"]
    made.optimizer.state[weight]["step"] = torch.tensor(5.0)
    before = divisor()

    moments_counterfactual.lower_beta2(made.optimizer, 0.9)

    assert made.optimizer.param_groups[0]["betas"] == (0.9, 0.9)
    torch.testing.assert_close(divisor(), before)


# --- warmup_restart


def wide(rate, *, rows=64):
    """A wide network under Adam, whose first steps are as long as the rate in every direction at once."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(8, 256), torch.nn.Tanh(), torch.nn.Linear(256, 256), torch.nn.Tanh()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 1))
    x = torch.randn(entries.STEPS, rows, 8, generator=torch.Generator().manual_seed(1))
    y = x.sum(-1, keepdim=True).sin()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    return ReplaySpec(model, optimizer, entries.mse, lambda i: (x[i % entries.STEPS], y[i % entries.STEPS]))


def test_a_warm_up_takes_the_throw_of_the_first_steps_away(run):
    found = run("warmup_restart", wide(0.01), start=0)

    assert (found.outcome, found.reproduced) == ("vanished", True)
    assert found.values["step"] < 5


@pytest.mark.parametrize("made", [entries.rate_too_high, entries.bad_batch])
def test_a_fault_that_comes_again_at_the_full_rate_stays_after_a_warm_up(run, made):
    assert run("warmup_restart", made()).outcome == "stayed"


def test_a_loss_that_jumps_once_the_optimisers_memory_is_gone(run):
    found = run("warmup_restart", wide(0.01), start=60, steps=20)

    assert (found.outcome, found.reproduced) == ("brought", True)
    assert found.values["step"] < 65


def test_a_memory_that_is_not_missed(run):
    made = entries.healthy()
    momentum = torch.optim.SGD(made.model.parameters(), lr=0.01, momentum=0.5)

    assert run("warmup_restart", ReplaySpec(made.model, momentum, made.loss, made.batches)).outcome == "harmless"


def test_an_optimiser_without_memory_has_none_to_lose(run):
    assert run("warmup_restart", entries.healthy()).outcome == INCONCLUSIVE


# --- higher_rate


def scheduled(rate, factor):
    made = entries.spec(rate, entries.data())
    schedule = torch.optim.lr_scheduler.LambdaLR(made.optimizer, factor)
    return ReplaySpec(made.model, made.optimizer, made.loss, made.batches, scheduler=schedule)


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (entries.spec(0.0001, entries.data()), "faster"),
        (scheduled(0.01, lambda i: min(1.0, (i + 1) / 1000)), "faster"),  # a warm-up is no schedule that ran out
        (scheduled(0.005, lambda i: max(1 - i / 20, 0.0)), "schedule"),
        (entries.spec(0.02, entries.data()), "no_faster"),
        (entries.spec(0.3, entries.data()), "unstable"),
        (entries.spec(0.0, entries.data()), INCONCLUSIVE),
        (entries.bad_batch(), INCONCLUSIVE),
    ],
    ids=["too-low", "warm-up", "ran-out", "at-its-best", "at-the-edge", "zero", "bad-batch"],
)
def test_a_higher_rate_decides(run, made, outcome):
    assert run("higher_rate", made).outcome == outcome


def test_a_fall_is_measured_against_weights_that_stand_still(run):
    """For a loss of -w, whose gradient is 1 everywhere: n steps at a rate of 0.1 lower it by 0.1 n."""
    weight = torch.nn.Parameter(torch.tensor(-100.0))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    made = ReplaySpec(torch.nn.ParameterDict({"w": weight}), optimizer, lambda m, b: -m["w"], lambda i: i)

    found = run("higher_rate", made, start=0, steps=61)

    falls = [found.values[f"fall {name}"] for name in ("unchanged", "rate x 3", "rate x 10")]
    assert falls == pytest.approx([4.5, 13.5, 45.0], rel=1e-4)  # after 45 steps, in the middle of 30 to 60
    assert found.outcome == "faster"


# --- decay_counterfactual


def decayed(decay, value, rate=0.1):
    """A loss of -w, whose gradient is 1 everywhere: under weight decay w comes to rest where decay times w is 1."""
    weight = torch.nn.Parameter(torch.tensor(value))
    optimizer = torch.optim.SGD([weight], lr=rate, weight_decay=decay)
    return ReplaySpec(torch.nn.ParameterDict({"w": weight}), optimizer, lambda m, b: -m["w"], lambda i: i)


@pytest.mark.parametrize(
    ("decay", "value", "fall", "outcome"),
    [
        (0.1, 10.0, 0.1 * 224.5, "falls"),  # 0.1 a step, over the steps 150 to 299
        (1e-9, 10.0, 0.0, "stayed"),
    ],
)
def test_a_loss_that_falls_without_weight_decay(run, decay, value, fall, outcome):
    found = run("decay_counterfactual", decayed(decay, value), start=0)

    assert (found.outcome, len(found.series["unchanged"])) == (outcome, 300)
    assert found.values["fall"] == pytest.approx(fall, rel=1e-4, abs=1e-4)


def test_without_weight_decay_there_is_none_to_leave_out(run):
    assert run("decay_counterfactual", decayed(0.0, 10.0), start=0).text == "the optimiser has no weight decay"


def test_a_loss_that_is_not_finite_is_compared_with_nothing(run):
    assert run("decay_counterfactual", decayed(10.0, 1.0, rate=1e20), start=0).outcome == INCONCLUSIVE
