"""An audit as one HTML file: all runs in a table that sorts and filters, and that can be read without its script.

The rows are data in the page. The script draws only the rows in sight, so that 10,000 runs scroll as fast as 10.
`common.html.element` escapes the text of a run, and the script sets text, never markup. `common.html.shell` sets the
policy.
"""

from loganalyst.report.audit.page import render

__all__ = ["render"]
