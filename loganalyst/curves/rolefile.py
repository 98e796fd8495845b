"""What `rules/roles.yaml` says of the roles: the names that propose them, and what confirms or contradicts them."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from msgspec import field

from loganalyst.model import Role
from loganalyst.rulefiles import Positive, Shape, Share, Text, ours

Direction = Literal["falls", "rises"]  # of a curve while training


class Entry(Shape, frozen=True):
    """One role: the names that propose it, and what the run must show.

    `measures` is a list of `rules/words.yaml`, whose names propose the role as those of `any` do. `range` is the
    least and the greatest possible value, `total` the role of the loss that this one is a term of, `needs` the
    company without which it is unsure. A name with one of the `weak` words means `otherwise` without the company;
    so does a name whose values contradict the role. A name with a word of the lists `without` has another role.
    """

    meaning: Text
    worse: Literal["up", "down", "none"]
    judged: bool
    any: tuple[str, ...] = ()
    measures: Literal["scores", "errors"] | None = None
    none: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    without: tuple[Text, ...] = ()
    held_out: Text | None = field(default=None, name="and")
    range: tuple[float, float] | None = None
    total: Text | None = None
    needs: Text | None = None
    weak: frozenset[str] = frozenset()
    otherwise: Text = "other"

    def role(self, name: str) -> Role:
        """The role under its name."""
        return Role(name, self.meaning, None if self.worse == "none" else self.worse, self.judged)


class Turn(Shape, frozen=True):
    """In a run with a metric of role `given` (and with one of the `settings`, if it names some), metrics of role
    `source` get role `target`.
    """

    given: Text = field(name="if")
    source: Text = field(name="from")
    target: Text = field(name="to")
    meaning: Text
    worse: Literal["up", "down", "none"]
    judged: bool
    settings: frozenset[str] = frozenset()

    @property
    def role(self) -> Role:
        """The role that they get."""
        return Entry(self.meaning, self.worse, self.judged).role(self.target)


class Company(Shape, frozen=True):
    """What confirms a role that needs company: other roles, or `names`: words of metrics and keys of settings."""

    meaning: Text
    roles: frozenset[str]
    names: frozenset[str] = frozenset()


class Certainty(Shape, frozen=True):
    """How sure a role is (0 to 1): by its name, with a second witness, and without one that it needs."""

    named: Share
    confirmed: Share
    doubted: Share


class RoleFile(Shape, frozen=True):
    """The whole file."""

    words: dict[str, frozenset[str]]
    certainty: Certainty
    unnamed: dict[Direction, tuple[str, str]]
    dwarfs: Positive
    company: dict[str, Company]
    roles: dict[str, Entry]
    sets: list[dict[str, str]]
    letters: dict[str, str]
    turns: list[Turn]


@cache
def role_file() -> RoleFile:
    """The file, read once."""
    return ours("roles.yaml", RoleFile)


@cache
def all_roles() -> Mapping[str, Role]:
    """Every role by name."""
    file = role_file()
    return {name: entry.role(name) for name, entry in file.roles.items()} | {t.target: t.role for t in file.turns}
