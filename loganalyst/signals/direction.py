"""Which way is worse: from a role, its name (rules/roles.yaml), or the caller's own word."""

from functools import cache
from typing import Literal

from loganalyst.errors import nearest
from loganalyst.model import Role

Worse = Literal["up", "down"] | None


def direction(role: str | Role | None, worse: Worse) -> Worse:
    """The direction of harm; `worse` overrides the role's; without either "up". ValueError for an unknown role name."""
    if worse not in ("up", "down", None):
        raise ValueError(f"worse: found {worse!r}; allowed are 'up', 'down' and None")
    if worse is not None or role is None:
        return worse or "up"
    return role.worse if isinstance(role, Role) else _named(role)


def _named(role: str) -> Worse:
    known = _known()
    if role not in known:
        raise ValueError(f"role: unknown name {role!r}; {nearest(role, known) or 'known are ' + ', '.join(known)}")
    return known[role]


@cache
def _known() -> dict[str, Worse]:
    from loganalyst.rulefiles import load, rules_dir

    roles = load(rules_dir() / "roles.yaml").data["roles"]
    return {name: {"up": "up", "down": "down"}.get(str(spec["worse"])) for name, spec in roles.items()}  # type: ignore[misc]
