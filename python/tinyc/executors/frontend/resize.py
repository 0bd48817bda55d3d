"""Resizing."""

from tinyc.executors.frontend.elementwise import NumpyFunctions

FUNCTIONS: NumpyFunctions = {}
