"""Elements of a page escape what they hold."""

from loganalyst.report.common.html.element import Html, data, element


def test_text_is_escaped_and_html_is_not():
    """Attributes are escaped too; None and False are left out."""
    made = element("p", "<b>", Html("<i>x</i>"), ["a", None], class_='"', data_at=1.5, hidden=True, id=None)

    assert made == '<p class="&quot;" data-at="1.5" hidden>&lt;b&gt;<i>x</i>a</p>'
    assert element("br") == "<br>"


def test_data_cannot_end_its_block():
    """No `<`, `>` or `&` of a text reaches the page."""
    assert data({"a": "</script>&"}) == (
        '<script type="application/json">{"a":"\\u003c/script\\u003e\\u0026"}</script>'
    )
