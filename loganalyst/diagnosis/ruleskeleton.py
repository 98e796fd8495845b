"""A rule of the user's own to start from: a sound file, with comments that say what belongs where."""

import re

from loganalyst.errors import RuleError

__all__ = ["skeleton"]

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

TEXT = """\
# One possible cause of trouble. What it says by now is an example: make it your own, from top to bottom.
#   loganalyst rules check DIR                  tells every fault with its line (DIR: the folder this file is in)
#   loganalyst rules test {id} --rules DIR      runs the tests at the end
#   loganalyst diagnose RUN --rules DIR         asks it beside our own; `rules: [DIR]` in loganalyst.yaml does so always
# All fields: docs/formats/rules.md. A rule of ours in full: loganalyst rules explain lr-too-high
id: {id}                    # the file's name; names the cause, never the remedy
title: Too short a context for the data
label: other                # the common label; `healthy` marks a harmless explanation
status: preview             # preview, stable or deprecated
since: "1.0"
family: {family}
severity: warning           # info, warning, error or critical
prior: 0.02                 # share of troubled runs that have this cause, before anything is looked at
applies_when: train_loss_points >= 20      # where this is false the rule is not applicable; may be left out
symptoms: [plateau, stuck-loss]            # what it can explain: ids of rules/symptoms.yaml, or of a symptoms.yaml here
summary: What the model is shown at once is shorter than what the task needs.
mechanism: Why this happens, in a sentence or two.
# Each item asks one question of the features of a run (all of them: docs/features.md, loganalyst show RUN --features)
evidence:
  - id: stands-still
    kind: circumstantial    # direct: seen itself, the only way above 0.90; circumstantial: fits
    ask: train_loss_half_drop_relative < 0.02
    # natural log-likelihood ratios: 0.7 doubles the odds, 2.3 makes them tenfold; one for, the other against it or 0
    weight: {{if_true: 1.5, if_false: -1.0}}
    says: "{{train_loss_metric}} fell by only {{train_loss_half_drop_relative:.1%}} over the second half of the run"
    says_if_false: the loss was still falling
  - id: learned-before
    kind: circumstantial
    ask: train_loss_drop_relative > 0.2
    weight: {{if_true: 1.5, if_false: -1.5}}
    says: "{{train_loss_metric}} had fallen by {{train_loss_drop_relative:.0%}} before"
    says_if_false: hardly anything was learned before
explains: []                # ids of rules that may be consequences of this one
fix:
  - change: context length
    from: its present value # with values of the run where a feature has them: "{{lr_peak:.2g}}"
    to: twice that
    expected_impact: the loss falls below the level it stands at
    verify: train for a tenth of the run and compare the loss at the same step
    if_not: the model is too small for the task
will_not_fix: a learning rate that is too low
side_effects: memory grows with the context
prevention: look at how long the dependencies in the data are
references: []
# As many tests that must not fire as tests that must; features that are not named are not known
tests:
  - name: fell, then stood still
    features: {{train_loss_points: 1000, train_loss_metric: loss, train_loss_drop_relative: 0.6, train_loss_half_drop_relative: 0.001, train_loss_tail_slope: 0.0, train_loss_noise_relative: 0.01}}
    expect: {{verdict: possible}}
  - name: still falling
    features: {{train_loss_points: 1000, train_loss_drop_relative: 0.6, train_loss_half_drop_relative: 0.3, train_loss_tail_slope: -0.3, train_loss_noise_relative: 0.01, train_loss_divergence_count: 0}}
    expect: {{verdict: unlikely}}
"""  # noqa: E501 (the lines of a file, not of this one)


def skeleton(id_: str, family: str) -> str:
    """The text of a rule file; RuleError for an id or a family that is no plain name."""
    for what, name in (("id", id_), ("family", family)):
        if not _ID.fullmatch(name):
            raise RuleError(name, f"is no {what} of a rule", "lower-case words with hyphens, such as rate-too-high")
    return TEXT.format(id=id_, family=family)
