"""Undefined values: which registers may hold them, how they spread, and what they must not decide."""
