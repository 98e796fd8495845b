"""Text that we did not write becomes one line that is safe to print."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from loganalyst.visibletext import clean


def test_clean_removes_what_a_terminal_would_obey():
    """Escapes, controls, line breaks and direction marks go; visible text stays."""
    assert clean("\x1b[31mred\x1b[0m \x1b]0;x\x07title\r\n\x08\u202eback\x9b") == "red title back"


@given(st.text())
def test_clean_is_one_short_line(raw):
    """Whatever comes in, one printable line of at most the limit comes out, and cleaning it again changes nothing."""
    cleaned = clean(raw, 50)

    assert len(cleaned) <= 50
    assert cleaned.isprintable()
    assert cleaned == clean(cleaned, 50)


def test_it_imports_the_standard_library_only():
    """An error must be printable while the import of polars is broken off."""
    code = "import sys, loganalyst.visibletext; print('polars' in sys.modules or 'numpy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
