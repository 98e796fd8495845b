"""MLflow: its file store and its SQLite store."""
