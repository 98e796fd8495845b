"""TensorBoard's event files: records, their checksums, and messages matched in parallel."""
