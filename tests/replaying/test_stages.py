"""The two stages at which experiments measure."""

from loganalyst.replaying.stages import stages
from tests.replaying import entries


def test_the_second_stage_comes_before_the_loss_is_not_finite(bench):
    assert [(s.name, s.step) for s in stages(bench(entries.healthy(), start=10, steps=4), 0)] == [
        ("at the checkpoint", 10), ("after 4 steps", 14)
    ]  # fmt: skip
    found = list(stages(bench(entries.bad_batch(), start=66, steps=20), 0))
    assert [(s.name, s.step) for s in found] == [("at the checkpoint", 66), ("after 3 steps", 69)]


def test_without_a_whole_step_there_is_only_the_first_stage(bench):
    assert [s.step for s in stages(bench(entries.bad_batch(), start=70), 0)] == [70]
