"""Numpy evaluation of the layers above the machine: the truth that every other executor is compared with.

`reference.evaluate_module` runs a Tiny or Region module; `compare` says whether two sets of outputs agree, with a
tolerance that is derived from the program.
"""
