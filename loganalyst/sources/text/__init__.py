"""Console text: lines and their ranks, patterns, tracebacks, and the metrics that programs print."""
