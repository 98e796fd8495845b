"""Text from outside that must fit into a table."""


def printable(value: object) -> str:
    """Text that can be stored as UTF-8; NULL bytes stay.

    JSON may hold half a surrogate pair, and a file's name bytes that are no UTF-8.

    >>> printable("caf\\udce9")
    'caf?'
    """
    return str(value).encode("utf-8", "replace").decode("utf-8")
