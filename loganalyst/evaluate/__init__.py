"""Measures how often the answers are right: labelled runs in, accuracy and calibration out.

`python -m loganalyst.evaluate DIR` prints it; `--fit` writes `rules/weights.yaml`. See docs/benchmark.md.
"""
