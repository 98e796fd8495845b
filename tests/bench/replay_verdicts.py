"""Trainings with a known fault: what the logs say, and what a replay from the last checkpoint before it makes of that.

    PYTHONPATH=. python tests/bench/replay_verdicts.py [--device auto|cpu|cuda] [--only NAME ...]

Each case of `fixtures/replays` is trained (metrics.csv and checkpoints), diagnosed from its logs alone, and replayed.
Printed are the confidence of the true cause before and after, whether the replay confirms it, how many of the rivals
named beforehand it refutes, how it ended, and the processor seconds of the replay: a busy machine changes them little.
Below stands the Brier score, of the logs alone and after the replay: the squared distance of each confidence from the
truth (1 for the cause, of several that are right for the likeliest; 0 for any other hypothesis), added up over a case's
hypotheses, its mean over the cases.
"""

import argparse
import resource
import tempfile
from pathlib import Path

import torch

import loganalyst as la
from fixtures.replays import cases
from fixtures.replays.training import trained
from loganalyst.model import Replay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--only", nargs="*", choices=cases.CASES)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'case':28}{'before':>8}{'after':>7}  {'verdict':11}{'rivals refuted':>15}{'s':>6}  ended")
    scores = []
    for name in asked.only or cases.CASES:
        with tempfile.TemporaryDirectory(prefix="loganalyst-replay-") as folder:
            case = cases.CASES[name]
            run = trained(Path(folder), case.entry(), extra=case.extra, ended=case.ended)
            began = processor()
            found = la.replay(run, f"{cases.__file__}:{name}", device=asked.device)
        scores.append((brier(case, found, "before"), brier(case, found, "after")))
        print(f"{name:28}{row(case, found, processor() - began)}", flush=True)
    before, after = (sum(column) / len(scores) for column in zip(*scores, strict=True))
    print(f"\nBrier score {before:.3f} from the logs, {after:.3f} after the replay: {1 - after / before:+.0%} better")


def processor() -> float:
    """Seconds of the processor that this process and those it started have had."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(of.ru_utime + of.ru_stime for of in used)


def row(case: cases.Case, found: Replay, seconds: float) -> str:
    right = [h for h in found.hypotheses if h.id in case.causes]
    verdicts = {h.id: h.verdict for h in found.hypotheses}
    wrong = [h.id for h in found.hypotheses if h.verdict == "confirmed" and not h.under and h.id not in case.causes]
    said = next((h.verdict for h in right if h.verdict == "confirmed"), "none right" if case.causes else "none")
    before, after = (max((getattr(h, when) for h in right), default=0.0) for when in ("before", "after"))
    refuted = f"{sum(verdicts.get(rival) == 'refuted' for rival in case.rivals)} of {len(case.rivals)}"
    ending = f"{found.ended}{', wrongly confirmed: ' + ' '.join(wrong) if wrong else ''}"
    return f"{before:8.2f}{after:7.2f}  {said:11}{refuted:>15}{seconds:6.1f}  {ending}"


def brier(case: cases.Case, found: Replay, when: str) -> float:
    """The score of one case; causes shown under another are its consequences, no hypotheses of their own."""
    sure = {h.id: getattr(h, when) for h in found.hypotheses if not h.under}
    right = max((p for id_, p in sure.items() if id_ in case.causes), default=0.0)
    others = sum(p**2 for id_, p in sure.items() if id_ not in case.causes)
    return others + (1 - right) ** 2 * bool(case.causes)


if __name__ == "__main__":
    main()
