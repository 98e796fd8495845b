"""A section of a comparison, as every renderer lays it out."""

from dataclasses import dataclass

from loganalyst.report.comparison.plot import Panel

MAX_ROWS = 8
MAX_SETTINGS = 4  # named for a run


@dataclass(frozen=True)
class Part:
    """A section: its title, a table with a head (may be empty), sentences below it, and panels of the figure."""

    title: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()

    @property
    def filled(self) -> list[int]:
        """The positions of the columns that are not empty."""
        return [i for i in range(len(self.head)) if any(row[i] for row in self.rows)]
