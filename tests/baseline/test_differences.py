"""The differences between the settings of two runs."""

from loganalyst.baseline.differencekinds import kinds
from loganalyst.baseline.differences import changes, missing
from loganalyst.model import Run, table


def run(**settings: object) -> Run:
    """A run with these settings; `__` in a key is a dot."""
    keys = [key.replace("__", ".") for key in settings]
    numbers = [float(v) if isinstance(v, int | float) else None for v in settings.values()]
    return Run(config=table("config", {"key": keys, "value": [str(v) for v in settings.values()], "number": numbers}))


def told(before: Run, after: Run) -> list[tuple[str, str, str | None, str | None, str | None]]:
    return [(c.key, c.kind, c.before, c.after, c.way) for c in changes(before, after, kinds())]


def test_equal_settings_make_no_change():
    assert told(run(lr=0.1, seed=1), run(lr=0.1, seed=1)) == []


def test_a_number_written_differently_is_the_same():
    a, b = run(lr=0.001), run(lr="1e-3")
    b = Run(config=b.config.with_columns(number=a.config["number"]))

    assert told(a, b) == []


def test_changes_are_ordered_by_how_much_they_matter():
    before = run(seed=1, lr=0.001, batch_size=64, my_switch="on")
    after = run(seed=2, lr=0.1, batch_size=32, my_switch="off")

    assert told(before, after) == [
        ("lr", "rate", "0.001", "0.1", "up"),
        ("batch_size", "batch", "64", "32", "down"),
        ("seed", "seed", "1", "2", "up"),
        ("my_switch", "other", "on", "off", None),
    ]


def test_a_setting_that_only_one_run_has_is_a_change():
    assert told(run(lr=0.1), run(lr=0.1, warmup_steps=100)) == [("warmup_steps", "schedule", None, "100", None)]


def test_a_fact_that_only_one_run_logged_is_no_change():
    """Trackers and their versions log different facts about the machine."""
    assert told(run(lr=0.1), run(lr=0.1, _wandb__git__commit="abc", _wandb__host="node7")) == []


def test_settings_are_not_compared_if_one_run_logged_none():
    bare, full = run(_wandb__host="node7"), run(lr=0.1, _wandb__host="node8")

    assert told(bare, full) == [("host", "place", "node7", "node8", None)]
    assert (missing(bare, kinds()), missing(full, kinds())) == (True, False)


def test_facts_are_the_same_under_every_trackers_name():
    before = Run(config=run(lr=1).config.vstack(run(**{"wandb-metadata.git.commit": "aaa"}).config))
    after = Run(config=run(lr=1).config.vstack(run(_wandb__git__commit="bbb").config))

    assert told(before, after) == [("git.commit", "code", "aaa", "bbb", None)]


def test_nodes_come_from_the_accounting_as_well():
    jobs = [Run(jobs=table("jobs", {"job": ["1"], "nodes": [node]})) for node in ("gpu[1-2]", "gpu[3-4]")]

    assert told(*jobs) == [("slurm_job_nodelist", "place", "gpu[1-2]", "gpu[3-4]", None)]
