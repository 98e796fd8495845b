"""Sacred's FileStorageObserver."""
