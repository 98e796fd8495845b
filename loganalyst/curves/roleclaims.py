"""What a metric is held to be: its role, the reason, and how sure it is."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from loganalyst.curves.rolefile import all_roles, role_file
from loganalyst.model import Role
from loganalyst.thresholds import verdict_limit


class Claim(NamedTuple):
    """A role with its reason. `confidence` is the probability that it is right, 0 to 1; None for the role `other`.
    `weight` is the factor of a loss term in its total.
    """

    role: Role
    why: str
    confidence: float | None
    weight: float = 1.0

    @property
    def unsure(self) -> bool:
        """Whether nothing confirms the role."""
        return is_unsure(self.confidence)


Claims: TypeAlias = Mapping[str, Claim]  # by metric


def is_unsure(confidence: float | None) -> bool:
    """Whether rules that stand on such a role are limited (`sure_role` in `rules/verdicts.yaml`)."""
    return confidence is not None and confidence < verdict_limit("sure_role")


def claim(role: str, why: str, confidence: float) -> Claim:
    """A claim for a role by its name."""
    return Claim(all_roles()[role], why, None if role == "other" else confidence)


def named(role: Role, why: str, *, sure: bool) -> Claim:
    """What a name proposes; `sure` if the trainer or the user says it."""
    return Claim(role, why, None if role.name == "other" else 1.0 if sure else role_file().certainty.named)


def doubted(found: Claim, why: str) -> Claim:
    """The same role without the witness that it needs."""
    return Claim(found.role, f"{found.why}, {why}", role_file().certainty.doubted)


def confirmed(found: Claim, why: str) -> Claim:
    """The same role with a second witness; a doubt that another check raised stays."""
    if found.unsure or found.confidence == 1.0:
        return found
    return Claim(found.role, f"{found.why}, {why}", role_file().certainty.confirmed)
