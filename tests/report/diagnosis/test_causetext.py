from dataclasses import replace

from loganalyst.report.diagnosis.document import document


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


def test_a_cause_in_text_tells_its_line(crashed):
    """A cause found in a log names file, line, rank and node, and quotes the line."""
    cause = document(crashed).causes[0]

    assert cause.place == "slurm-991.out:2013, rank 3, node gpu-017"
    assert cause.story.startswith("torch.OutOfMemoryError: CUDA out of memory.")
