"""A replay as Markdown."""

from loganalyst.report.replay import markdown


def test_markdown_escapes_its_cells(found):
    """The outcome is bold among the expected ones."""
    text = markdown.render(found)

    assert "| Rate \\| too high | 50 % | 90 % | confirmed |" in text
    assert "- **mends**: the rate\n- no: else" in text
