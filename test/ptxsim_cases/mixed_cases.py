"""The case of `data/cuda/mixed.cu`: what ordinary code does, in one loop; bench/simulator.py runs it for longer.

All products are by powers of two, and exact: each sum is rounded once, fused or not. Expected: all threads at once;
again: a thread at a time.
"""

import numpy as np

from ptxsim_cases.case import Arrays, Case, no_barrier, poison

F32, I32, U32 = np.float32, np.int32, np.uint32
THREADS = 256


def mixed_case(blocks: int, steps: int) -> Case:
    """The case of so many blocks, each of 8 warps, and so many rounds of the loop."""
    n = blocks * THREADS

    def make(generator: np.random.Generator) -> Arrays:
        return {"x": generator.uniform(-4, 4, n).astype(F32), "out": poison(n, dtype=F32)}

    def expected(arrays: Arrays) -> Arrays:
        x, state, threads = arrays["x"], np.arange(n, dtype=U32), np.arange(n)
        value = x.copy()
        for step in range(steps):
            state = state * U32(1664525) + U32(1013904223)
            value = F32(0.5) * value[threads // THREADS * THREADS + (state >> 24)] + F32(0.25) * value
            value = value + F32(0.125) * value[threads ^ (1 << step % 5)]
            value = np.where(state & 256, np.maximum(value, 0) - x[(state >> 9) % n], value)
        return {"out": value}

    def again(arrays: Arrays) -> Arrays:
        x = arrays["x"].tolist()
        values, states = list(x), list(range(n))
        for step in range(steps):
            states = [(1664525 * s + 1013904223) % 2**32 for s in states]
            values = [float(F32(values[k - k % THREADS + (s >> 24)] / 2 + values[k] / 4)) for k, s in enumerate(states)]
            values = [float(F32(v + values[k ^ (1 << step % 5)] / 8)) for k, v in enumerate(values)]
            values = [
                float(F32(max(v, 0.0) - x[(s >> 9) % n])) if s & 256 else v for v, s in zip(values, states, strict=True)
            ]
        return {"out": np.array(values, F32)}

    return Case(
        "mixed",
        "cuda/mixed.ptx",
        "mixed",
        (blocks, 1, 1),
        (THREADS, 1, 1),
        ("x", "out", I32(n), I32(steps)),
        make,
        expected,
        again,
        mutations=(no_barrier(0, "race", "uninitialized"), no_barrier(1)),
    )


CASES = (mixed_case(2, 6),)
