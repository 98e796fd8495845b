from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime

import pytest

from loganalyst import model
from loganalyst.model import Alternative, RuledOut, SessionSummary
from loganalyst.report.diagnosis import terminal
from loganalyst.report.diagnosis.document import Excluded, Row, document

STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]


def texts(value):
    """Every text anywhere in a document."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for f in fields(value):
            yield from texts(getattr(value, f.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)


@pytest.mark.parametrize(
    ("state", "tone", "headline", "verdict"),
    [
        (
            "failed",
            "bad",
            "FAILED at step 24,650 of 50,000 after 3 h 12 min",
            "Learning rate too high after the curriculum switch",
        ),
        ("healthy", "good", "FINISHED at step 4,990", "Healthy: no symptom found"),
        ("unknown_cause", "unsure", "LAST SEEN at step 899", "Something went wrong, but the logs do not show why"),
        (
            "too_little",
            "unsure",
            "LAST SEEN at step 3",
            "Not enough was logged to judge this run: 3 points of 1 metric",
        ),
        ("unreadable", "unsure", "UNREADABLE", "Nothing could be read here"),
        ("crashed", "bad", "FAILED; no step was logged", "GPU memory exhausted"),
    ],
)
def test_headline_and_verdict(request, state, tone, headline, verdict):
    """Each status has its own headline, verdict and tone."""
    doc = document(request.getfixturevalue(state))

    assert (tone, headline, verdict) == (doc.tone, doc.headline, doc.verdict)


@pytest.mark.parametrize(
    ("known", "headline"),
    [
        (
            {"run_end": "stopped_early_unexplained", "run_planned_steps": 2000.0},
            "STOPPED at step 899 of 2,000, nothing shows why",
        ),
        (
            {"run_end": "early_stopped", "run_epochs": 47.0, "config_epochs": 100.0},
            "STOPPED EARLY at step 899 (epoch 47 of 100)",
        ),
        ({"run_end": "finished", "run_planned_steps": 900.0}, "REACHED ITS END at step 899 of 900"),
    ],
)
def test_the_headline_says_how_a_run_ended_by_its_plan(unknown_cause, known, headline):
    """Where no log, tracker or scheduler states the end."""
    assert document(replace(unknown_cause, features=model.Features(known))).headline == headline


@pytest.mark.parametrize("state", STATES)
def test_every_text_is_one_clean_line(request, state):
    """Whatever the logs hold, no control character, line break or direction mark is left, and no text is endless."""
    for text in texts(document(request.getfixturevalue(state))):
        assert text.isprintable()
        assert len(text) <= 2000


def test_healthy_counts_what_was_looked_for(healthy):
    """The verdict of a healthy run says how many causes were looked for, leaving out those that do not apply."""
    looked = (
        RuledOut("a", "A", "unlikely", "w"),
        RuledOut("b", "B", "unlikely", "w"),
        RuledOut("c", "C", "not_applicable", ""),
    )

    assert document(replace(healthy, ruled_out=looked)).verdict == "Healthy: none of the 2 causes looked for"


def test_causes_are_ranked_cut_and_told(failed):
    """At most `top` causes are put into words, each with its share, its basis and its order of events."""
    first, second = document(failed).causes

    assert (first.sure, first.basis, first.likely) == ("93 %", "direct evidence", True)
    assert first.story == (
        "grad_norm left its trend at step 24,549; train/loss left its trend at step 24,590; "
        "train/loss became NaN or infinite at step 24,650"
    )
    assert (second.sure, second.basis, second.likely) == ("24 %", "a guess so far: circumstantial evidence", False)
    assert len(document(failed, top=1).causes) == 1


def test_a_cause_before_a_surer_one_says_why(failed):
    """Of what ended the run this is said only where another is surer."""
    first, second = failed.causes[:2]
    ended = replace(first, ended_run=True)

    assert document(replace(failed, causes=(ended, second))).causes[0].basis == "direct evidence"
    surer = replace(second, confidence=0.99)
    told = document(replace(failed, causes=(ended, surer)))
    assert told.causes[0].basis == "direct evidence, and ended the run"
    assert "ended the run" not in told.causes[1].basis


def test_evidence_is_ordered(failed):
    """What speaks for it comes first, what speaks against it next, what is not known last."""
    assert [e.supports for e in document(failed).causes[0].evidence] == [True, True, True, False, None]


def test_a_cause_in_text_tells_its_line(crashed):
    """A cause found in a log names file, line, rank and node, and quotes the line."""
    cause = document(crashed).causes[0]

    assert cause.place == "slurm-991.out:2013, rank 3, node gpu-017"
    assert cause.story.startswith("torch.OutOfMemoryError: CUDA out of memory.")


def test_another_rank_may_print_the_line_than_the_first_one(crashed):
    """The rank that printed a line stands beside it, the one that failed first after it."""
    cause = replace(crashed.causes[0], rank=5, node=None)
    lines = model.table("lines", {"file": [cause.file], "line": [cause.line], "rank": [3], "text": ["x"]})
    found = replace(crashed, causes=(cause,), run=replace(crashed.run, lines=lines))

    assert document(found).causes[0].place == "slurm-991.out:2013, rank 3; rank 5 was first"


def test_a_step_that_only_the_ranks_printed_is_the_last_step(crashed):
    """`rank 0 step 35` is no metric, but the job did not end before a step."""
    ranks = tuple(
        model.ProcessState(
            f"rank {n}", n, None, "slurm-991.out", 1, 90, None, None, 30 + n, "failed", None, None, needed=True
        )
        for n in (0, 5)
    )

    assert document(replace(crashed, processes=ranks)).headline.startswith("FAILED at step 35")


def test_curves_of_the_cause_come_with_the_usual_ones(failed):
    """Loss, gradient and rate are drawn in this order, on one axis with one onset."""
    series = document(failed, cells=24).series

    assert [s.metric for s in series] == ["train/loss", "grad_norm", "lr"]
    assert {16} == {s.onset for s in series}
    assert document(failed).onset == "24,549"


def test_the_onset_is_a_symptoms_where_no_cause_is_known(unknown_cause):
    """Without a cause the first symptom marks the curves."""
    assert document(unknown_cause).onset == "600"


def test_reasons_are_told_once(failed):
    """Causes with one reason share it; the reason most of them share comes first; what does not apply is kept apart."""
    doc = document(failed)

    assert (
        Excluded(("Overfitting", "Data leakage"), "validation loss is not logged"),
        Excluded(("Straggler",), "step time per rank is not logged"),
    ) == doc.not_judged
    assert [t for n in doc.ruled_out for t in n.titles] == ["fp16 overflow", "Log of zero"]
    assert doc.not_applicable == ("Entropy collapse",)


def test_an_alternative_has_its_probability_and_both_sides_of_the_evidence(failed):
    """The first screen lists it after the causes and before the rivals that are ruled out."""
    other = Alternative("hung", "Hung", "hung", 0.06, ("no line for an hour",), "the loss was still falling")
    changed = replace(failed, alternatives=(other,))
    shown = " ".join(terminal.render(changed).split())

    assert document(changed).less_likely == (Row("Hung 6 %", "no line for an hour; but the loss was still falling"),)
    assert "Hung 6 % · fp16 overflow ruled out" in shown


def test_a_sure_cause_without_alternatives_says_so(failed):
    """No number is made up for causes that no evidence supports."""
    shown = " ".join(terminal.render(replace(failed, causes=failed.causes[:1])).split())

    assert "Instead? nothing else is supported · fp16 overflow ruled out" in shown


def test_looked_for_and_not_found_is_not_ruled_out(failed):
    """Excluded, not supported and not checked are three groups."""
    unseen = RuledOut("hung", "Hung", "unlikely", "none of its symptoms is seen (Hung)")
    doc = document(replace(failed, not_supported=(unseen,)))

    assert [t for n in doc.ruled_out for t in n.titles] == ["fp16 overflow", "Log of zero"]
    assert [(n.titles, n.why) for n in doc.not_supported] == [(("Hung",), "none of its symptoms is seen")]
    assert [t for n in doc.not_judged for t in n.titles] == ["Overfitting", "Data leakage", "Straggler"]


def test_sources_that_say_nothing_are_named_by_their_tracker(failed):
    """Event files appear as TensorBoard, once."""
    assert document(failed).sources == ("TensorBoard", "slurm-8812.out", "config.yaml")


def test_not_known_stays_unsaid(failed):
    """A fact that is not known gives no row and no made-up number."""
    labels = [row.label for row in document(failed).facts]

    assert "Epochs" not in labels
    assert "Duration" in labels


def test_sessions_are_told_where_there_are_several(failed, crashed):
    """One start says nothing; two are listed."""
    assert document(failed).sessions == ()
    assert [row.label for row in document(crashed).sessions] == ["start 1", "start 2"]


def test_of_thousands_of_starts_the_last_are_told_and_all_are_counted(healthy):
    """A job that was begun anew over and over; the last start runs, which does not hide how the others ended."""
    labels = ["disk_full" if i % 10 else "cuda_oom" for i in range(4136)]
    ended = [SessionSummary(i, 9 * i + 1, 9 * i + 9, "failed", label) for i, label in enumerate(labels)]
    looped = replace(healthy, sessions=(*ended, SessionSummary(4136, 37225, None, "running", None)))
    found = document(looped)

    assert found.starts == "4,137 (3,722 disk_full, 414 cuda_oom)"
    assert [row.label for row in found.sessions[:2]] == ["all", "start 4088"]
    assert found.sessions[0].text == "4,137 (3,722 disk_full, 414 cuda_oom); the last 50 follow"
    assert len(found.sessions) == 51
    assert "Starts     4,137 (3,722 disk_full, 414 cuda_oom); start 4135 failed (disk_full)" in terminal.render(looped)
    assert "Starts" not in terminal.render(replace(looped, sessions=looped.sessions[-1:]))


def test_what_is_not_logged_is_told_in_one_sentence(healthy):
    """Costs of one kind share a sentence; another kind has its own."""
    costs = {
        "train_loss": "nothing can be said",
        "val_loss": "overfitting cannot be judged",
        "grad_norm": "vanishing gradients cannot be judged",
    }

    assert document(replace(healthy, summary={"not_logged": costs})).not_logged == (
        "train loss is not logged: nothing can be said",
        "validation loss and gradient norm are not logged: overfitting and vanishing gradients cannot be judged",
    )


def test_the_same_words_are_told_once(failed):
    """Two items that need the same thing give one line."""
    item = failed.causes[0].evidence[-1]
    cause = replace(failed.causes[0], evidence=(item, replace(item, id="again")))

    assert len(document(replace(failed, causes=(cause,))).causes[0].evidence) == 1


def test_reasons_that_say_the_same_are_told_once(failed):
    """Rivals before the others. Roles are told in plain words, metrics by their names."""
    out = (
        RuledOut("a", "A", "unlikely", "the log names no kill"),
        RuledOut("b", "B", "unlikely", "the log names no crash; values were logged"),
        RuledOut("c", "C", "unlikely", "none of its symptoms is seen (Loss is NaN)"),
        RuledOut("d", "D", "unlikely", "the log names no kill", True),
        RuledOut("f", "F", "unlikely", "train_loss fell by 3 %"),
    )
    unknown = (RuledOut("e", "E", "unknown", "needs loss_scale, val_loss"),)
    doc = document(replace(failed, ruled_out=out, unknown=unknown))

    assert [(n.titles, n.why) for n in doc.ruled_out] == [
        (("D",), "no line of the log names it as the fault"),
        (("A", "B"), "no line of the log names it as the fault"),
        (("C",), "none of its symptoms is seen"),
        (("F",), "train_loss fell by 3 %"),
    ]
    assert [n.why for n in doc.not_judged] == ["needs loss scale, validation loss"]


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


def test_the_timeline_has_steps_and_times_and_no_empty_heads(failed):
    """What was raised stands there by itself."""
    at = datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC)
    events = (
        model.TimelineEvent(3, None, "loss", "spike", "loss spiked"),
        model.TimelineEvent(None, at, None, "root", "Traceback (most recent call last):"),
        model.TimelineEvent(None, at, None, "root", "ValueError: x"),
    )

    assert [(row.label, row.text) for row in document(replace(failed, timeline=events)).timeline] == [
        ("step 3", "loss spiked"),
        ("09:30:05", "ValueError: x"),
    ]


def test_the_headline_names_a_step_only_where_there_is_one(healthy, crashed, too_little):
    """A finished job without steps did not stop before them; rows of a log are not steps."""
    rows = replace(healthy.features, values={**healthy.features.values, "run_steps_are_rows": True})
    quick = replace(crashed, run=replace(crashed.run, status="finished"))
    late = replace(too_little.features, values={**too_little.features.values, "train_loss_begins_late": True})

    assert document(replace(healthy, features=rows)).headline == "FINISHED after 4,991 logged rows"
    assert document(quick).headline.startswith("FINISHED; no step was logged")
    assert document(replace(too_little, features=late)).headline == "LAST SEEN at step 3 of the logged part"
    assert document(replace(crashed, summary={**crashed.summary, "duration_s": 0.4})).headline == (
        "FAILED; no step was logged"
    )


def test_a_run_without_a_known_metric_is_not_said_to_be_short(too_little):
    """160 points of 8 metrics are enough, if one could tell which is the loss."""
    metrics = (model.Metric("Sigmoid1", "other", "no role fits the name", 20, 0),)
    unnamed = replace(too_little, metrics=metrics, summary={"not_logged": {"train_loss": "x"}, "metrics": []})

    assert document(unnamed).verdict == "No metric is known as a loss, score or reward: 3 points of 1 metric"
