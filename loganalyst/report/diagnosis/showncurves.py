"""The curves that a report draws."""

from loganalyst.model import Curve, Diagnosis

# What to draw after the curves that a cause names, in this order
SHOWN_ROLES = ("train_loss", "rl_loss", "val_loss", "reward", "grad_norm", "learning_rate", "loss_scale")
MAX_SERIES = 4


def shown_curves(d: Diagnosis) -> list[Curve]:
    """The curves to draw: those that the first cause and the symptoms name, then the usual ones, at most four."""
    lead = d.causes[:1]
    named = [c.metric for c in lead] + [e.metric for c in lead for e in c.evidence if e.holds]
    named += [s.metric for s in d.symptoms]
    named += [m for c in lead for e in c.evidence if e.holds for m in e.metrics]
    by_name = {c.metric: c for c in d.curves if len(c.values)}
    chosen = [by_name[m] for m in dict.fromkeys(named) if m in by_name]
    for role in SHOWN_ROLES:
        of_role = [c for c in by_name.values() if c.role.name == role]
        if of_role and not any(c.role.name == role for c in chosen):
            chosen.append(max(of_role, key=lambda c: len(c.values)))
    order = {role: i for i, role in enumerate(SHOWN_ROLES)}
    return sorted(chosen[:MAX_SERIES], key=lambda c: order.get(c.role.name, len(order)))
