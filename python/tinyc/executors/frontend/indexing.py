"""What reads or writes where its data says."""

from tinyc.executors.frontend.elementwise import NumpyFunctions

FUNCTIONS: NumpyFunctions = {}
