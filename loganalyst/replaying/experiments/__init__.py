"""One experiment a file, found by scanning; see `loganalyst.replaying.experiment`."""
