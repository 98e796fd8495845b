"""The direction of harm: from a role, its name (rules/roles.yaml), or the caller."""

from functools import cache
from typing import Literal

from loganalyst.errors import nearest
from loganalyst.model import Role

Worse = Literal["up", "down"] | None


def direction(role: str | Role | None, worse: Worse) -> Worse:
    """The direction of harm: `worse` if given, otherwise the role's; without either "up". ValueError for an unknown
    role name.
    """
    if worse not in ("up", "down", None):
        raise ValueError(f"worse: found {worse!r}; allowed are 'up', 'down' and None")
    if worse is not None or role is None:
        return worse or "up"
    return role.worse if isinstance(role, Role) else _direction_of_role(role)


def _direction_of_role(role: str) -> Worse:
    known = _directions()
    if role not in known:
        raise ValueError(f"role: unknown name {role!r}; {nearest(role, known) or 'known are ' + ', '.join(known)}")
    return known[role]


@cache
def _directions() -> dict[str, Worse]:
    from loganalyst.rulefiles import load, rules_dir

    roles = load(rules_dir() / "roles.yaml").data["roles"]
    return {name: {"up": "up", "down": "down"}.get(str(spec["worse"])) for name, spec in roles.items()}  # type: ignore[misc]
