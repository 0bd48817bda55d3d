"""Convolutions, and the fold of windows."""

from tinyc.executors.frontend.elementwise import NumpyFunctions

FUNCTIONS: NumpyFunctions = {}
