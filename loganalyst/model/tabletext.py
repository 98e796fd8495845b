"""Makes text from outside fit into a table."""


def printable(value: object) -> str:
    """Text that can be stored as UTF-8; NULL bytes stay.

    JSON may hold half of a surrogate pair, and a file name may hold bytes that are not UTF-8.

    >>> printable("caf\\udce9")
    'caf?'
    """
    return str(value).encode("utf-8", "replace").decode("utf-8")
