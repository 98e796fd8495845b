"""W&B's run file: LevelDB's framing, records of protobuf, and their values."""
