"""`tinyc explain`: one access, block or edge of a program's analyses, with its reasons, for a person to read."""

from tinyc.explain.explanation import explain

__all__ = ["explain"]
