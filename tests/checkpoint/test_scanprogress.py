"""Progress of a scan."""

from loganalyst.checkpoint.scanprogress import Steps


def test_each_tensor_is_reported_with_the_total():
    reports = []
    steps = Steps(2, lambda done, total: reports.append((done, total)))
    steps.advance()
    steps.advance()

    assert reports == [(1, 2), (2, 2)]


def test_without_a_watch_tensors_are_only_counted():
    steps = Steps(2)
    steps.advance()

    assert steps.done == 1
