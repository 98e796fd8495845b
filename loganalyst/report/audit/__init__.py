"""An audit as one HTML file: all runs in a table that sorts and filters, and reads without a script too.

The rows are data in the page; the script draws those in sight, so that 10,000 runs scroll as 10 do. What a run says is
escaped by `html.element`, and the script sets texts, never markup. The policy is that of `html.shell`.
"""

from loganalyst.report.audit.page import render

__all__ = ["render"]
