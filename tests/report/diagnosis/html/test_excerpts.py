"""Lines of the log in the page."""

from dataclasses import replace

from loganalyst import model
from loganalyst.model import Excerpt
from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.html import excerpts


def test_the_root_cause_line_is_marked(crashed):
    """The excerpt has line numbers. Recognised lines around the root have a note."""
    lines = model.table(
        "lines", {"file": "slurm-991.out", "line": [2013, 2014], "part": ["root", "confirm"], "text": ["a", "b"]}
    )
    shown = Excerpt("slurm-991.out", 2012, ("  File <x>", "torch.OutOfMemoryError", "srun: exited"), 2013)
    text = html.render(replace(crashed, excerpts=(shown,), run=replace(crashed.run, lines=lines)))

    assert '<span class="l root"><span class="n">  2013 </span><mark>torch.OutOfMemoryError</mark>' in text
    assert '<span class="n">  2012 </span>  File &lt;x&gt;' in text
    assert 'srun: exited<span class="note">  ◀ follows from it</span>' in text
    assert text.index('id="run0-log"') < text.index('id="run0-evidence"')


def test_without_a_cause_the_last_recognised_lines_are_shown(healthy):
    """The last 40 lines are shown. In a healthy run none is called the cause."""
    rows = {
        "file": "slurm-9.out",
        "line": range(1, 101),
        "part": "root",
        "text": [f"fault {i}!" for i in range(1, 101)],
    }
    text = html.render(replace(healthy, run=replace(healthy.run, lines=model.table("lines", rows))))

    assert ("fault 100!" in text, "fault 61!" in text, "fault 60!" in text) == (True, True, False)
    assert (text.count("<td>a fault</td>"), "<td>the cause</td>" in text) == (40, False)


def test_without_lines_there_is_no_log(unreadable):
    """The section is left out."""
    assert excerpts.log(unreadable) == []
