"""Tables in CSV, JSON and Parquet: cells, step columns, and fast paths for uniform lines."""
