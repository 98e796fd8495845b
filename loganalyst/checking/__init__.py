"""The adviser on settings: which settings of a run cannot be right, are unusual, or should be recorded.

`rules/settings/` holds the settings that are looked up, the checks with their ranges, and the sources of these.
"""

from loganalyst.checking.judging import check
from loganalyst.checking.settingnotes import setting_notes
from loganalyst.checking.topics import topics

__all__ = ["check", "setting_notes", "topics"]
