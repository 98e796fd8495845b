from dataclasses import replace

from loganalyst.report.diagnosis.document import document


def test_evidence_is_ordered(failed):
    """What speaks for it comes first, what speaks against it next, what is not known last."""
    assert [e.supports for e in document(failed).causes[0].evidence] == [True, True, True, False, None]


def test_the_same_words_are_told_once(failed):
    """Two items that need the same thing give one line."""
    item = failed.causes[0].evidence[-1]
    cause = replace(failed.causes[0], evidence=(item, replace(item, id="again")))

    assert len(document(replace(failed, causes=(cause,))).causes[0].evidence) == 1


def test_an_item_within_another_is_told_once(failed):
    """The longer one says it."""
    long = replace(failed.causes[0].evidence[0], text="kl ended at 0.01 nats, less than one bit", weight=1.0)
    short = replace(long, id="short", text="kl ended at 0.01 nats", weight=2.0)
    against = replace(short, id="against", holds=False, weight=-1.0)
    cause = replace(failed.causes[0], evidence=(short, long, against))

    assert [(e.supports, e.text) for e in document(replace(failed, causes=(cause,))).causes[0].evidence] == [
        (True, "kl ended at 0.01 nats, less than one bit"),
        (False, "kl ended at 0.01 nats"),
    ]
