"""One number of a shape, while its meaning is being found."""

from typing import Literal

import msgspec

Role = Literal["metric", "step", "batch", "total", "epoch"]


class Number(msgspec.Struct):
    """One number of a shape, while its meaning is being found."""

    index: int
    key: str = ""  # as printed
    plain: str = ""  # lower case, with blanks for _ and -
    separated: bool = False  # by : or =
    bounded: bool = False  # a key alone between delimiters
    carried: str = ""  # what the number behind this position is called
    role: Role | None = None
    section: str = ""  # of a line with several: the word for the data
    evaluation: str = ""  # the word for held-out data, behind which the number stands
    over: int | None = None  # the slot of the total that a count is a share of
    count: int | None = None  # the slot of this count, where the number itself is its rounded percentage

    def drop(self) -> None:
        """Forget the name: the number has no meaning."""
        self.key = self.plain = ""
