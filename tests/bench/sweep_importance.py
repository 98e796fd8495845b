"""Which settings of a sweep matter: ours beside functional ANOVA of a forest, permutation importance, and correlation.

    python -m tests.bench.sweep_importance [--sweeps N] [--runs N …] [--largest N]

Sweeps are drawn with known Sobol indices: six settings (a valley over the rate, an optimiser, a product of rate and
batch, a slope, two without effect) on a random search with noise. Told are, over the sweeps of a size: Spearman's
correlation of the importances with the true ones, how often the first setting is right, the mean error of the shares,
how often a setting without effect is said to matter, and seconds of CPU a sweep. The peers are optuna's fANOVA and
scikit-learn's permutation importance where they are installed; they give no test, so a share above 5 % counts as said.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import spearmanr

from loganalyst.comparing.sensitivity import sensitivity
from loganalyst.comparing.settingspace import space

Floats = NDArray[np.float64]
Sweep = Mapping[str, NDArray]  # type: ignore[type-arg]
KEYS = ("lr", "weight_decay", "optimizer", "batch_size", "dropout", "null")
NULL = ("weight_decay", "null")
SAID = 0.05


@dataclass(frozen=True)
class Answer:
    """Importances by setting, and those that are said to matter."""

    shares: dict[str, float]
    said: set[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--runs", type=int, nargs="+", default=[20, 50, 150])
    parser.add_argument("--largest", type=int, default=5000)
    chosen = parser.parse_args()
    print(f"{'':24}{'runs':>6}{'rank':>8}{'first':>8}{'error':>8}{'null':>8}{'s':>9}")
    for runs in chosen.runs:
        for name, ask in peers().items():
            rows = np.array([scored(ask, seed, runs) for seed in range(chosen.sweeps)])
            rank, first, error, null, seconds = rows.mean(axis=0)
            print(f"{name:24}{runs:6}{rank:8.2f}{first:8.0%}{error:8.3f}{null:8.0%}{seconds:9.3f}", flush=True)
    *_, seconds = scored(ours, 0, chosen.largest)
    print(f"{'loganalyst':24}{chosen.largest:6}{'':32}{seconds:9.3f}")


def scored(ask: "Callable[[Sweep, Floats], Answer]", seed: int, runs: int) -> tuple[float, float, float, float, float]:
    settings, loss, truth = drawn(seed, runs)
    began = time.process_time()
    found = ask(settings, loss)
    seconds = time.process_time() - began
    told, true = (np.array([d.get(k, 0.0) for k in KEYS]) for d in (found.shares, truth))
    rank = float(spearmanr(told, true).statistic) if np.ptp(told) else 0.0
    first = float(KEYS[int(np.argmax(told))] == max(truth, key=lambda k: truth[k]))
    return rank, first, float(np.abs(told - true).mean()), float(bool(found.said & {*NULL})), seconds


def drawn(seed: int, runs: int) -> tuple[Sweep, Floats, dict[str, float]]:
    """A sweep with random strengths, its losses, and the true total Sobol index of each setting (noise counts)."""
    rng = np.random.default_rng(seed)
    lr, decay = 10 ** rng.uniform(-5, -1, runs), 10 ** rng.uniform(-6, -1, runs)
    optimizer, batch = rng.choice(["adam", "sgd", "lion"], runs), rng.choice([32, 64, 128, 256], runs)
    dropout, null = rng.uniform(0, 0.5, runs), rng.uniform(0, 1, runs)
    best, bend, jump, both, slope, noise = rng.uniform((-4, 0.1, 0.1, 0.05, 0.1, 0.05), (-2, 0.3, 0.6, 0.3, 0.6, 0.3))
    at, size = np.log10(lr), (np.log2(batch) - 6.5) / 1.5
    loss = bend * (at - best) ** 2 + jump * (optimizer == "sgd") + both * (at + 3) * size + slope * dropout * 2
    loss = loss + noise * rng.standard_normal(runs)
    grid = np.linspace(-5, -1, 10_001)
    parts = {
        "lr": float(np.var(bend * (grid - best) ** 2)), "optimizer": jump**2 * 2 / 9, "dropout": slope**2 / 12,
        "both": both**2 * float(np.mean((grid + 3) ** 2)) * 5 / 9, "noise": noise**2,
    }  # fmt: skip
    whole = sum(parts.values())
    truth = {"lr": parts["lr"] + parts["both"], "batch_size": parts["both"], "optimizer": parts["optimizer"]}
    truth = {k: v / whole for k, v in {**truth, "dropout": parts["dropout"], **dict.fromkeys(NULL, 0.0)}.items()}
    columns = (lr, decay, optimizer, batch, dropout, null)
    return dict(zip(KEYS, columns, strict=True)), loss, truth


def ours(settings: Sweep, loss: Floats) -> Answer:
    rows = [
        (str(i), key, str(v), None if isinstance(v, str) else float(v))
        for key, values in settings.items()
        for i, v in enumerate(values.tolist())
    ]
    columns = {"run_id": pl.String, "key": pl.String, "value": pl.String, "number": pl.Float64}
    of = space([str(i) for i in range(loss.size)], pl.DataFrame(rows, schema=columns, orient="row"))
    found, _ = sensitivity(of.settings, np.arange(loss.size), loss, 1.0)
    return Answer({i.key: i.share for i in found.importances}, {i.key for i in found.importances if i.important})


def correlation(settings: Sweep, loss: Floats) -> Answer:
    """The naive way: the squared rank correlation of each setting with the loss."""
    shares = {k: float(spearmanr(_codes(v), loss).statistic) ** 2 for k, v in settings.items()}
    return _above(shares)


def fanova(settings: Sweep, loss: Floats) -> Answer:
    """optuna's, of a forest of 64 trees; the product is shared out by none of it: main effects alone."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study()
    kinds = {k: _distribution(k, v) for k, v in settings.items()}
    for i, value in enumerate(loss):
        params = {k: v[i].item() for k, v in settings.items()}
        study.add_trial(optuna.trial.create_trial(params=params, distributions=kinds, value=float(value)))
    found = optuna.importance.get_param_importances(
        study, evaluator=optuna.importance.FanovaImportanceEvaluator(seed=0)
    )
    return _above(dict(found))


def permutation(settings: Sweep, loss: Floats) -> Answer:
    """scikit-learn's, of a forest of 100 trees, on the runs it was made of; as shares of their sum."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance

    x = np.column_stack([_codes(settings[k]) for k in KEYS])
    forest = RandomForestRegressor(100, random_state=0).fit(x, loss)
    found = np.maximum(permutation_importance(forest, x, loss, n_repeats=10, random_state=0).importances_mean, 0)
    return _above(dict(zip(KEYS, (found / max(found.sum(), 1e-300)).tolist(), strict=True)))


def _distribution(key: str, values: NDArray) -> object:  # type: ignore[type-arg]
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    if values.dtype.kind == "U" or key == "batch_size":
        return CategoricalDistribution(sorted({v.item() for v in values}))
    return FloatDistribution(float(values.min()), float(values.max()), log=key in ("lr", "weight_decay"))


def _codes(values: NDArray) -> Floats:  # type: ignore[type-arg]
    return np.unique(values, return_inverse=True)[1].astype(float)


def _above(shares: dict[str, float]) -> Answer:
    return Answer(shares, {k for k, v in shares.items() if v > SAID})


def peers() -> "dict[str, Callable[[Sweep, Floats], Answer]]":
    """Those that are installed, ours first."""
    found: dict[str, Callable[[Sweep, Floats], Answer]] = {"loganalyst": ours, "rank correlation": correlation}
    for name, package, ask in (("optuna fANOVA", "optuna", fanova), ("permutation, forest", "sklearn", permutation)):
        try:
            __import__("sklearn")
            __import__(package)
        except ImportError:
            print(f"{name}: {package} is not installed")
        else:
            found[name] = ask
    return found


if __name__ == "__main__":
    main()
