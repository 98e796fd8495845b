"""TensorBoard's event files: records, their checksums, and messages of one template read side by side."""
