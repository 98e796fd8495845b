"""The role that a name gets, for tests."""

from loganalyst.curves.roles import assign


def role(name: str, *others: str) -> str:
    return assign([name, *others])[name][0].name
