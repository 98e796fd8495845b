"""One experiment per file, found by scanning; see `loganalyst.replaying.experiment`."""
