"""The template of a user's own rule: a sound file with a comment on every field."""

import re

from loganalyst.errors import RuleError

__all__ = ["skeleton"]

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")  # rate-too-high

TEXT = """\
# One possible cause of trouble. The content is an example: replace it from top to bottom.
#   loganalyst rules check DIR                  reports every fault with its line (DIR: the folder of this file)
#   loganalyst rules test {id} --rules DIR      runs the tests at the end
#   loganalyst diagnose RUN --rules DIR         asks it with our rules; `rules: [DIR]` in loganalyst.yaml always does so
# All fields: docs/formats/rules.md. A complete rule: loganalyst rules explain lr-too-high
id: {id}                    # the file's name: the cause, never the remedy
title: Too short a context for the data
label: other                # the common label; `healthy` marks a harmless explanation
status: preview             # preview, stable or deprecated
since: "1.0"
family: {family}
severity: warning           # info, warning, error or critical
prior: 0.02                 # share of troubled runs with this cause, before any evidence
applies_when: train_loss_points >= 20      # if false, the rule is not applicable; optional
excluded_kinds: [evaluation, none]         # kinds of training that cannot have it, or kinds: the only ones; optional
restates_symptom: false     # true if it says what is visible and gives no reason; optional
symptoms: [plateau, stuck-loss]            # that it can explain: ids of rules/symptoms.yaml, or of a symptoms.yaml here
summary: The context of the model is shorter than the task needs.
mechanism: Why this happens, in a sentence or two.
# Each item asks one question about the features of a run (all features: docs/features.md, loganalyst show RUN --features)
evidence:
  - id: stands-still
    kind: circumstantial    # direct: sees the cause itself, needed above 0.90; circumstantial: fits it
    ask: train_loss_half_drop_relative < 0.02
    # natural log-likelihood ratios: 0.7 doubles the odds, 2.3 multiplies them by ten; one answer supports the cause
    weight: {{if_true: 1.5, if_false: -1.0}}
    says: "{{train_loss_metric}} fell by only {{train_loss_half_drop_relative:.1%}} over the second half of the run"
    says_if_false: the loss was still falling
  - id: learned-before
    kind: circumstantial
    ask: train_loss_drop_relative > 0.2
    weight: {{if_true: 1.5, if_false: -1.5}}
    says: "{{train_loss_metric}} had fallen by {{train_loss_drop_relative:.0%}} before"
    says_if_false: the model had learned little before
explains: []                # ids of rules that may be consequences of this cause
fix:
  - change: context length
    from: the present value # or a value of the run: "{{lr_peak:.2g}}"
    to: twice that
    expected_impact: the loss falls below its present level
    verify: train for a tenth of the run and compare the loss at the same step
    if_not: the model is too small for the task
will_not_fix: a learning rate that is too low
side_effects: memory grows with the context
prevention: look at how long the dependencies in the data are
references: []
# As many tests that must not fire as tests that must. Features that are not named are not known.
tests:
  - name: fell, then stood still
    features: {{train_loss_points: 1000, train_loss_metric: loss, train_loss_drop_relative: 0.6, train_loss_half_drop_relative: 0.001, train_loss_tail_slope: 0.0, train_loss_noise_relative: 0.01}}
    expect: {{verdict: possible}}
  - name: still falling
    features: {{train_loss_points: 1000, train_loss_drop_relative: 0.6, train_loss_half_drop_relative: 0.3, train_loss_tail_slope: -0.3, train_loss_noise_relative: 0.01, train_loss_divergence_count: 0}}
    expect: {{verdict: unlikely}}
"""  # noqa: E501 (the lines of a file, not of this one)


def skeleton(id_: str, family: str) -> str:
    """The text of a rule file. Raises RuleError for an id or a family that is no plain name."""
    for what, name in (("id", id_), ("family", family)):
        if not _ID.fullmatch(name):
            raise RuleError(name, f"is no {what} of a rule", "lower-case words with hyphens, such as rate-too-high")
    return TEXT.format(id=id_, family=family)
