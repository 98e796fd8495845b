"""A comparison as one HTML file without a script: the tables of the terminal, with the plots as SVG next to them.

`common.html.element` escapes the text of a run, in plots too. `common.html.shell` sets the policy.
"""

from loganalyst.report.comparison.page import render

__all__ = ["render"]
