"""The tree of a module → flat code: every kernel with the functions that it can reach, every variable in its place.

code         what comes out: `Program`, `Code`
layout       places of variables in state spaces
references   what a function refers to
resolve      the body of one function: instructions in a row, places instead of names
link         the module
"""
