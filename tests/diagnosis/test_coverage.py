"""The catalogue as a whole: every label and symptom has rules."""

from loganalyst.model.labels import LABELS
from loganalyst.pipeline import catalogue

FEWEST_RULES, FEWEST_RIVALS = 95, 3

# symptoms with fewer rivals, and why; all others have three at least, which their evidence has to separate
FEW = {
    "layer-without-gradient": "seen directly in the gradients",
    "module-without-gradient": "seen directly in the gradients",
    "one-term-is-all": "a total that one term makes up has a wrong weight, or nothing learns at all",
    "pretrained-worse-than-guessing": "the weights were sound before, so the ids or the embedding are wrong",
    "begins-beyond-any-vocabulary": "no vocabulary is so large, so the sum over batches is the matter",
    "averaged-weights-apart": "the trained weights are sound, so the average is the matter",
    "sawtooth": "only the order of the data repeats with the passes",
    "passes-repeat": "only the order of the data repeats with the passes",
    "batches-unlike": "only the order of the data makes batches of one kind",
    "sure-from-the-start": "only the first weights are there before the first update",
    "gradients-stay-huge": "what is large from the start to the end is not logged",
    "outputs-saturated": "only the size of the weights makes outputs so certain",
    "few-modes": "seen directly in the samples",
    "few-codes": "the codebook, or an encoder too small for it, which other symptoms show",
    "few-codes-since-one": "the codebook is the matter",
    "one-term-weighs-most": "the weights of the terms are the matter",
    "val-loss-creeps-up": "only memorising makes one loss rise smoothly while the other falls",
    "held-out-sets-apart": "the data of one set are the matter",
    "thrown-at-high-rate": "seen directly in the rate",
    "narrow-model": "the size of the model is the matter",
    "creeps-held-out": "seen directly in the rate",
    "optimizer-state-lost": "the line of the log names its cause",
    "val-nan": "the rules of a NaN in the training loss are for it as well",
    "divergence-in-log": "the line of the log names its cause",
    "learns-anew": "weights that are made anew, and nothing else, repeat the start",
    "gradients-outgrow-progress": "what is trained is too little for the slope, whatever the rest is",
    "little-at-huge-rate": "seen directly in the rate",
    "held-back": "seen only where a rate was cut, so the rate is the matter",
    "term-left-behind": "the weights of the terms are the matter",
    "term-drowned": "the weights of the terms are the matter",
    "term-runs-away": "the part is not logged",
    "loss-beside-the-task": "seen directly in the loss beside the accuracy",
    "never-finite": "the first value is NaN, so no curve shows how it came to be",
    "steps-skipped": "a loss scaler is the only reason to skip steps",
    "held-out-never-moved": "weights that do not move, or a metric that does not depend on them",
    "answers-cut-off": "seen directly in the answers",
    "begins-above-guessing": "tokens that the model was not trained on are the matter, or a sum over batches",
    "held-out-pairs-at-chance": "the pairs carry no preference; a policy and a reward model have a rule each",
    "chosen-displaced": "seen directly in the log-probabilities",
    "denoiser-worse-than-nothing": "the scale of weights or inputs is the matter",
    "samples-alike": "seen directly in the samples",
    "contest-still": "neither model is updated",
    "generator-wins": "the discriminator is not updated",
    "reference-kl-blew-up": "updates that are too large, or nothing that holds the policy",
    "sampler-apart": "seen directly in the ratios",
    "held-out-set-forgotten": "seen directly in the losses of two held-out sets",
    "margins-exactly-zero": "seen directly in the margins",
    "margins-explode": "seen directly in the margins",
    "policy-without-gradient": "seen directly in the gradient and the rewards",
    "pairs-hardly-separated": "curves do not show what the scores lack; at chance, other symptoms have more causes",
    "pairs-fitted-badly-at-a-high-rate": "a high rate rules out the others; curves do not show what is not trained",
    "balance-loss-grew": "seen directly in the loss for the balance",
    "expert-overloaded": "seen directly in the load of the experts",
    "begins-at-multiple-of-guessing": "the number of accumulated batches says it",
    "begins-at-sum-of-batches": "the number of accumulated batches says it",
    "booster-learned-by-heart": "seen directly in the two losses",
    "boosting-far-from-fitted": "the share of each tree and their number are the matter",
    "pretrained-starts-untrained": "the settings name two models",
    "one-class-unknown": "the balance of the classes is the matter",
    "test-far-above-held-out": "the data of the training differ from those of the test, or leak into the held-out part",
    "test-accuracy-far-below": "the data of the training differ from those of the test, or leak into the held-out part",
    "loss-jumped-after-first-update": "seen directly in the first losses",
    "hardly-succeeds": "a reward of single successes says nothing about its reason",
    "low-success": "a rate of successes says nothing about its reason",
    "entropy-blew-up": "seen directly in the entropy",
    "entropy-coefficient-ran-away": "seen directly in the coefficient",
    "value-loss-ran-away": "returns of a size that the critic was not made for",
    "task-reward-still": "seen directly in the parts of the reward",
    "reward-without-judge": "the reward measures something else than the judge",
    "second-set-far-below": "the first set leaks, or the second one is not prepared as the training data are",
    "reward-without-held-out": "the reward measures something else than the task",
    "loss-without-end": "seen directly in the loss",
    "dead-units": "seen directly in gradients or activations",
    "contest-at-large-rate": "seen directly in the rate",
    "frozen-parameters": "seen directly in the weights",
    "gradients-pile-up": "a sum that is never cleared, which has one reason",
    "nan-weights": "the rules of a NaN in the training loss are for it as well",
    "rate-jumped": "seen directly in the rate",
    "saved-alike": "seen directly in the weights",
    "saved-scale-collapsed": "half precision has two ends",
    "saved-unreadable": "the file says what is wrong with it",
    "small-model": "the size of the model is the matter",
    "val-loss-rises-alone": "learning by heart and falling apart look alike where training is not logged",
    "weights-shrank": "no other force shrinks all weights",
    "held-out-all-zero": "a sum over no sample is 0, which has one reason",
    "held-out-below": "labels that are wrong, or a regularised training, which is no fault",
    "preference-loss-high": "seen directly in the loss",
    "schedule-exhausted": "seen directly in the rate",
    "held-out-is-training-data": "the config says so",
    "adapter-scale": "seen directly in the config",
    "reward-without-success": "seen directly in what is measured beside the reward",
    "held-out-apart": "what evaluation does differently is not logged",
    "held-out-jumps": "what evaluation does differently is not logged",
    "staircase": "few samples, or one order of them",
    "longer-fails": "seen directly at the lengths",
    "score-left-behind": "the loss and the score want different things; which is seldom logged",
    "representations-alike": "seen directly in the representations",
    "experts-idle": "seen directly in the load",
    "module-apart": "seen directly in the gradients",
    "text-repeats": "a model too small, or one that is mostly embedding",
    "kl-near-zero": "seen directly in the term",
    "kl-runs-up": "seen directly in the term",
    "codebook-unused": "seen directly in the codes",
    "discriminator-wins": "seen directly in the contest",
    "contest-swings": "seen directly in the contest",
    "entropy-gone": "seen directly in the policy",
    "chosen-gives-way": "seen directly in the log-probabilities",
    "held-out-pairs-reversed": "seen directly in the held-out pairs",
    "chosen-falls-early": "the weight of the reference is the matter",
    "policy-thrown-about": "the rate is the matter",
    "waits-for-data": "seen directly in the times",
    "member-lags": "seen directly in the times",
    "memory-grows": "what holds the memory is not logged",
    "stalled": "what stood still is not logged",
    "gone-silent": "what stood still is not logged",
    "variance-undefined": "the warning names its cause",
    "artefacts-missing": "the files are not there",
    "broken-off": "a buffer that was never written",
    "collective-missing": "seen directly in the dumps of the ranks",
    "stacks-apart": "seen directly in the dumps of the ranks",
    "stopped-while-held": "seen directly in the dumps of the ranks",
    "losses-repeat": "weights that do not move, or a rate of 0",
    "device-throttled": "the readings of the device show it directly",
    "collective-mismatch": "seen directly in the dumps of the ranks",
    "no-history": "hardly anything was logged to tell causes apart",
}


def test_every_common_label_has_a_rule() -> None:
    """A label without a rule could never be an answer."""
    rules = catalogue().rules.values()

    assert len(rules) >= FEWEST_RULES
    assert {rule.label for rule in rules} == LABELS


def test_every_symptom_has_rivals_or_a_reason_for_having_few() -> None:
    """Three causes at least for each; the exceptions are these and no others."""
    symptoms = catalogue().symptoms
    rivals = {id_: sum(id_ in rule.symptoms for rule in catalogue().rules.values()) for id_ in symptoms}

    assert {id_ for id_, n in rivals.items() if n < FEWEST_RIVALS} == set(FEW) & set(symptoms)
    assert min(rivals.values()) >= 1


def test_every_cause_can_be_confirmed_and_ruled_out() -> None:
    """Each rule has evidence for it, and evidence against it or a condition that excludes it."""
    for rule in catalogue().rules.values():
        speaks = [w for item in rule.evidence for w in (item.if_true, item.if_false)]
        assert max(speaks) > 0, rule.id
        assert min(speaks) < 0 or rule.applies_when is not None or "failed" in rule.symptoms, rule.id


def test_every_fault_of_training_has_a_promise_for_its_fix() -> None:
    """The change, its effect, how to check it, and what it does not fix."""
    for rule in catalogue().rules.values():
        assert all((rule.fix, rule.will_not_fix, rule.mechanism)), rule.id
        if rule.status == "preview" and rule.since == "0.2.0" and not rule.benign:
            told = (rule.fix[0].expect, rule.fix[0].if_not, rule.prevention)
            assert all(told), rule.id
            assert {"unknown", "unlikely"} <= {v for test in rule.tests for v in test.verdicts}, rule.id
