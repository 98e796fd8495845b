"""Fixes of our rules are offered only to runs that they can help: by trainer, kind of fault and place in the run."""

from loganalyst import pipeline
from loganalyst.diagnosis import advice
from loganalyst.diagnosis.evidence import answer, feature_table
from loganalyst.model import FeatureValue

CATALOGUE = pipeline.catalogue()


def changes(rule: str, **row: FeatureValue) -> str:
    """The changes that a rule offers to a run with these features."""
    [answers] = answer(CATALOGUE, feature_table(CATALOGUE, [row]), [{}])
    return " / ".join(fix.change for fix in advice.fixes(CATALOGUE.rules[rule], answers))


def test_no_checkpoint_before_the_first_step() -> None:
    """A loss that is not finite at or after step 0 has no earlier checkpoint."""
    for when in ("at step 0", "after step 0"):
        found = changes("nan-loss", train_loss_nonfinite_when=when, train_loss_last_finite_step=0)
        assert "checkpoint up to" not in found
        assert f"the loss is NaN or infinite {when}" in found
    later = changes("nan-loss", train_loss_nonfinite_when="at step 40", train_loss_last_finite_step=30)
    assert "the last checkpoint up to step 30" in later


def test_a_discriminator_that_does_not_win_is_not_weakened() -> None:
    """Few modes beside an even contest."""
    even = changes("mode-collapse", discriminator_loss_last=1.4, sample_modes_last=2.0)
    won = changes("mode-collapse", discriminator_loss_last=0.00005)

    assert "weaken the discriminator" not in even
    assert "several samples at once" in even
    assert "weaken the discriminator" in won
    assert "weaken the discriminator" in changes("mode-collapse", discriminator_loss_last=0.01, sample_modes_last=1.0)


def test_a_trainer_that_calls_the_schedule_itself_is_not_told_how() -> None:
    """The Trainer of Hugging Face calls it once a step by design; a script of one's own may do so by mistake."""
    for trainer in ("hf-trainer", "trl-dpo", "trl-sft"):
        found = changes("schedule-exhausted", trainer=trainer, lr_kind="step", lr_metric="learning_rate")
        assert "once an epoch" not in found
        assert "the Trainer calls it once a step" in found
    own = changes("schedule-exhausted", trainer="lightning", lr_kind="exponential", lr_metric="lr")
    assert "once an epoch instead of once a batch" in own
    assert "the Trainer calls it" not in own


def test_ranks_at_one_number_are_not_blamed() -> None:
    """The fix names what to do if no rank is behind."""
    assert "If all stand at the same number, test the links" in changes("nccl-timeout")


def test_the_fix_of_a_file_fits_the_operation() -> None:
    """Rights to write cannot repair a disk that cannot be read."""
    path = "/nfs/set/shard_7.npy"
    read = changes("filesystem-error", log_root_pattern="io-error", log_root_path=path, log_root_message="[Errno 5]")
    refused = changes("filesystem-error", log_root_pattern="permission-denied", log_root_path=path, log_root_message="")
    script = changes(
        "filesystem-error", log_root_pattern="permission-denied", log_root_message="run.sh: line 4: ./a.sh"
    )

    assert f"whether the storage of {path} answers" in read
    assert "writable by the job" not in read + refused
    assert f"the right that this operation needs on {path}" in refused
    assert "chmod +x" in script
