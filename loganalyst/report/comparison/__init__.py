"""A comparison as one HTML file: the tables of the terminal, with the plots as SVG where they belong. It has no script.

Text of a run is escaped by `html.element`, that of the plots too; the policy is that of `html.shell`.
"""

from loganalyst.report.comparison.page import render

__all__ = ["render"]
