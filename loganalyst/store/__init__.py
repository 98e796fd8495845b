"""A cache of runs that were read and judged: Parquet files that any tool can open, and fingerprints of unchanged files.

Tables that were read or judged can be deleted; they are made again from the runs. What the user confirmed and which
fixes were verified cannot be made again. See docs/store.md.
"""

from loganalyst.sources.discovery.accountingdumps import jobs as dumped_jobs
from loganalyst.store.changedruns import Below
from loganalyst.store.outcome import Outcome
from loganalyst.store.runstore import Store

__all__ = ["Below", "Outcome", "Store", "dumped_jobs"]
