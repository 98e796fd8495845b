"""MLflow's file store and its SQLite store."""
