"""A search for the cause without another process: outcomes of experiments are given."""

import loganalyst as la
from loganalyst.replaying import hypothesissearch


def hypothesis(found, id_):
    return next(h for h in found.hypotheses if h.id == id_)


class Answers:
    """Stands for the other process: outcomes by experiment, one a seed."""

    random = True

    def __init__(self, outcomes):
        self.outcomes, self.asked = outcomes, []

    def __call__(self, name, seed, limits, outcomes):
        self.asked.append((name, seed))
        found = self.outcomes.get(name, ["inconclusive"])
        return la.model.Measured(found[seed % len(found)], f"{name} {seed}")


def searched(run, outcomes, cause=None, **options):
    made, ask = hypothesissearch.Search(la.diagnose(run), None, (), cause, **options), Answers(outcomes)
    return made.result(*made.run(ask)), ask.asked
