"""Rows of CSV and JSON: cells, the columns that count steps, and lines that are alike read at once."""
