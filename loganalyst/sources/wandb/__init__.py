"""W&B's run file: LevelDB framing, protobuf records, and their values."""
