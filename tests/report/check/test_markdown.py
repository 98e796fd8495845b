"""Checked settings as Markdown."""

import loganalyst as la
from loganalyst.report.check.markdown import render


def test_findings_have_headings_and_sources(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("optimizer: adamw\nlr: 1.0e-3\neps: 1.0e-16\n")
    lines = render(la.check(file)).splitlines()

    assert lines[0] == "# 1 setting is unusual"
    assert "## Epsilon of Adam (unusual)" in lines
    assert "- **Found:** eps is 1e-16 (config.yaml); usual: 1e-10 to 0.01" in lines
    assert "| Learning rate of Adam | 1e-3 | 1e-7 to 0.03 |" in lines
    assert any(line.startswith("- **Source:** Kingma and Ba 2015") for line in lines)
