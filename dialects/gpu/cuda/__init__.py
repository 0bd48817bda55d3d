"""Kernels at the scalar level as CUDA C++: what `to_cuda.py` puts together as one file.

A kernel becomes text in `functions` (statements) and `expressions` (values), with the names of `names` and `types`;
`simplify` and `folding` decide before what is written where. `reference` makes the sequential form of a kernel, which
goes the same way; `host` writes the `main` that runs both, of what `sizes` and `knowledge` find out about the program.
`prelude` has the C++ functions that all of it calls.
"""
