from loganalyst.report.diagnosis.document import document


def test_curves_of_the_cause_come_with_the_usual_ones(failed):
    """Loss, gradient and rate are drawn in this order, on one axis with one onset."""
    series = document(failed, cells=24).series

    assert [s.metric for s in series] == ["train/loss", "grad_norm", "lr"]
    assert {16} == {s.onset for s in series}
    assert document(failed).onset == "step 24,549"
