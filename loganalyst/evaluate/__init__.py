"""How often the answers are right and how sure they may be: labelled runs in, accuracy and calibration out.

`python -m loganalyst.evaluate DIR` prints it; `--fit` writes `rules/weights.yaml`. See docs/benchmark.md.
"""
