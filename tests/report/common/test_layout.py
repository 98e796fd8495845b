"""Lines for a terminal: wrapping, two-ended lines, shortened names, ASCII."""

from loganalyst.report.common.layout import cells, cut, field, padded, printed, shortened, text, two_ended, wrapped


def plain(lines):
    return [line.plain.rstrip() for line in lines]


def test_a_number_stays_with_its_per_cent_sign():
    """The line breaks before the number."""
    assert plain(wrapped(text("confidence about 93 %"), 20)) == ["confidence about", "93 %"]


def test_a_field_hangs_below_its_label():
    """Further lines are indented by the width of the label."""
    assert plain(field("Change", "lower the learning rate now", 32)) == [
        "Change     lower the learning",
        "           rate now",
    ]


def test_the_right_end_moves_down_where_it_does_not_fit():
    """On one line where both fit."""
    assert plain(two_ended(text("left"), text("right"), 12)) == ["left   right"]
    assert plain(two_ended(text("left"), text("right"), 10)) == ["left", "  right"]


def test_names_keep_both_ends():
    """A wide character takes two columns."""
    assert shortened("layers.12.weight", 9) == "lay…eight"
    assert (cells("损失"), cut("损失曲线", 5), padded("ab", 4)) == (4, "损失…", "ab  ")


def test_ascii_replaces_signs():
    """Signs become their nearest ASCII characters."""
    line = text("✓ a → b · ≥ 3 …")

    assert printed([line], width=40, colour=False, ascii_only=True) == "+ a -> b; >= 3 ...\n"


def test_a_separator_at_the_end_of_a_line_is_kept_in_ascii():
    """Without it, two texts would read as one."""
    lines = [text("a · b · "), text("c")]

    assert printed(lines, width=40, colour=False, ascii_only=True) == "a; b;\nc\n"
