"""Measures how many entries of a codebook, experts of a router and dimensions of a latent variable are in use."""

import re
from collections.abc import Mapping
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.sampledchoices import ChoiceWatch, Usage
from loganalyst.replaying.stages import Stage, stages

# a choice by a router, such as "topk in model" (several at once are no code) or "argmax in layers.0.gate"
ROUTER = re.compile(r"^topk|rout|gate|expert|moe", re.IGNORECASE)
FAULTS = ("few_codes", "idle_experts", "collapsed")
MAX_TABLES = 20  # tables and latent variables whose values are kept

Result = tuple[str, str, dict[str, float | str | None]]


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `few_codes`, `idle_experts`, `collapsed`, `codes_in_use`, `experts_busy`, `latent_in_use`."""
    found = [f for stage in stages(bench, seed) for f in _results(stage, _watch_stage(bench, stage), bench.limits)]
    values = {name: value for _, _, named in found for name, value in named.items()}
    for outcome, text, _ in sorted(found, key=lambda f: f[0] not in FAULTS):
        return Measured(outcome, text, outcome in FAULTS, values, start=bench.start)
    return Measured(INCONCLUSIVE, "nothing is chosen from a table, and no latent variable is drawn", values=values)


def _watch_stage(bench: Bench, stage: Stage) -> Usage:
    usage = Usage()
    for i in range(int(bench.limits["batches"])):
        with ChoiceWatch(bench.model, usage):
            bench.forward(bench.batch(stage.step * bench.spec.accumulate + i))
    return usage


def _results(stage: Stage, usage: Usage, limits: Mapping[str, float]) -> list[Result]:
    """The result for each table and each latent variable."""
    tables = [_table(stage, name, counts, limits) for name, counts in [*usage.choices.items()][:MAX_TABLES]]
    draws = [*usage.draws.items()][:MAX_TABLES]
    latents = [_latent(stage, name, kl / samples, limits) for name, (kl, samples) in draws]
    return tables + latents


def _table(stage: Stage, name: str, counts: Any, limits: Mapping[str, float]) -> Result:
    """The result for a table, by its perplexity: the number of entries in use if all were used equally."""
    import torch

    total, size = int(counts.sum()), len(counts)
    perplexity = float(torch.special.entr(counts / total).sum().exp())
    router = ROUTER.search(name) is not None
    # few choices cannot reach more entries than their number; half of the experts should have work
    few = perplexity < (limits["experts"] * size if router else limits["share"] * min(size, total))
    few = few or (not router and perplexity < min(limits["codes"], size / 2))
    outcome = ("idle_experts" if few else "experts_busy") if router else "few_codes" if few else "codes_in_use"
    what = "experts" if router else "entries"
    text = f"{stage.name} {int((counts > 0).sum())} of {size} {what} are taken in {total:,} choices ({name})"
    return outcome, f"{text}, with a perplexity of {perplexity:.3g}", {f"perplexity of {name} {stage.name}": perplexity}


def _latent(stage: Stage, name: str, kl: Any, limits: Mapping[str, float]) -> Result:
    active, total = int((kl > limits["nats"]).sum()), float(kl.sum())
    outcome = "collapsed" if active < limits["active"] * len(kl) else "latent_in_use"
    text = f"{stage.name} {active} of {len(kl)} latent dimensions carry more than {limits['nats']:g} nats ({name})"
    return outcome, f"{text}, all together {total:.3g}", {f"KL of {name} {stage.name}": total}
