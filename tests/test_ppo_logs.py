"""PPO of language models as OpenRLHF, verl and TRL's old PPOTrainer log it: sound, with a policy that leaves its
reference, and with a value function that does not learn. The names are those of the trainers' files.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import loganalyst

Series = NDArray[np.float64]
N = 160
DONE = np.linspace(0, 1, N)


def noisy(values: Series, by: float = 0.03) -> Series:
    return values * (1 + by * np.random.default_rng(values.size).standard_normal(N))


def run(fault: str) -> dict[str, Series]:
    """Reward, divergence from the reference, value loss, explained variance, entropy and length of a training."""
    learned = 1 - np.exp(-4 * DONE)
    flat = 0.3 + 0.02 * np.random.default_rng(1).standard_normal(N)
    sound = {
        "reward": noisy(0.3 + 0.4 * learned), "kl": noisy(0.02 + 4 * DONE),
        "value": noisy(0.05 + 0.4 * np.exp(-5 * DONE)),
        "explained": noisy(0.1 + 0.7 * learned), "entropy": noisy(40 - 8 * DONE), "length": noisy(200 + 20 * DONE),
    }  # fmt: skip
    broken = {
        "sound": {},
        "kl": {"reward": flat, "kl": noisy(0.02 * np.exp(15 * DONE))},
        "value": {"reward": flat, "value": noisy(0.2 * np.exp(6 * DONE)), "explained": noisy(-0.4 - DONE)},
    }  # fmt: skip
    return sound | broken[fault]


def openrlhf(folder: Path, x: dict[str, Series]) -> None:
    """The console: `logger.info(f"✨ Global step {steps}: {status}")`."""
    lines = ["python3 -m openrlhf.cli.train_ppo_ray --init_kl_coef 0.01 --critic_learning_rate 9e-6"]
    for i in range(N):
        status = {
            "policy_loss": round(0.01 * np.sin(i), 5), "critic_loss": round(x["value"][i], 5), "actor_lr": 5e-7,
            "critic_lr": 9e-6, "ppo_clip_ratio": 0.02, "ppo_kl": 0.001, "reward": round(x["reward"][i], 4),
            "return": round(x["reward"][i], 4), "kl": round(x["kl"][i], 5), "response_length": round(x["length"][i], 1),
            "total_length": round(x["length"][i] + 300, 1), "values": 0.2,
        }  # fmt: skip
        lines.append(
            f"(PPOTrainer pid=3) 2026-01-05 10:{i // 60:02d}:{i % 60:02d}.221 [INFO] ✨ Global step {i + 1}: {status}"
        )
    (folder / "train.log").write_text("\n".join(lines) + "\n")


def verl(folder: Path, x: dict[str, Series]) -> None:
    """The console of the local logger: `step:1 - name:value - …`."""
    rows = [
        {
            "critic/vf_loss": x["value"][i], "critic/vf_explained_var": x["explained"][i], "critic/lr": 1e-5,
            "critic/grad_norm": 1.0, "critic/score/mean": x["reward"][i], "critic/rewards/mean": x["reward"][i],
            "critic/values/mean": 0.2, "actor/reward_kl_penalty": x["kl"][i], "actor/entropy": x["entropy"][i] / 100,
            "actor/pg_loss": 0.01 * np.sin(i), "actor/pg_clipfrac": 0.01, "actor/ppo_kl": 0.001, "actor/grad_norm": 0.3,
            "actor/lr": 1e-6, "response_length/mean": x["length"][i], "response_length/clip_ratio": 0.01,
            "timing_s/step": 40.0,
        }
        for i in range(N)
    ]  # fmt: skip
    lines = [f"step:{i + 1} - " + " - ".join(f"{k}:{v:.6g}" for k, v in row.items()) for i, row in enumerate(rows)]
    (folder / "train.log").write_text("\n".join(lines) + "\nFinal validation metrics: None\n")


def trl(folder: Path, x: dict[str, Series]) -> None:
    """The statistics of `PPOTrainer.step` (TRL before 0.12) as JSON lines."""
    rows = [
        {
            "step": i, "objective/kl": x["kl"][i], "objective/kl_coef": 0.2, "objective/entropy": x["entropy"][i],
            "ppo/mean_non_score_reward": -0.2 * x["kl"][i] / 20, "ppo/loss/policy": 0.01 * np.sin(i),
            "ppo/loss/value": x["value"][i], "ppo/loss/total": 0.1 * x["value"][i], "ppo/policy/approxkl": 0.004,
            "ppo/policy/clipfrac": 0.04, "ppo/val/var_explained": x["explained"][i], "ppo/learning_rate": 1.4e-5,
            "env/reward_mean": x["reward"][i], "env/reward_std": 0.2, "tokens/responses_len_mean": x["length"][i],
        }
        for i in range(N)
    ]  # fmt: skip
    (folder / "stats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("write", [openrlhf, verl, trl])
@pytest.mark.parametrize(
    ("fault", "causes"),
    [("sound", set()), ("kl", {"reference-kl-blow-up"}), ("value", {"value-not-learned"})],
)
def test_a_fault_of_ppo_is_named(
    tmp_path: Path, write: Callable[[Path, dict[str, Series]], None], fault: str, causes: set[str]
) -> None:
    """A sound training has no cause. OpenRLHF logs no explained variance, but the loss of its critic."""
    write(tmp_path, run(fault))
    found = loganalyst.diagnose(tmp_path)

    assert {cause.id for cause in found.causes[:1]} == causes
