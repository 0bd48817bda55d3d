"""Layer, rms, group, instance and batch norms."""

from tinyc.executors.frontend.elementwise import NumpyFunctions

FUNCTIONS: NumpyFunctions = {}
