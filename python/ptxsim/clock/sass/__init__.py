"""The clock."""
