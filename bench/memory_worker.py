"""The worker of `model_memory.py`: loads a model, runs it once, and prints how much memory that took at its highest.

    memory_worker.py tinyc MODEL.tinyc INPUTS.npz
    memory_worker.py onnxruntime MODEL.onnx INPUTS.npz

It imports nothing but what loads and runs the model, with one thread. It prints the bytes after loading, and at the
end: the process's peak of resident memory by then, as Linux says.
"""

import re
import sys
from pathlib import Path

import numpy as np


def peak_bytes() -> int:
    """The most memory that this process has had at once; what its parent had does not count."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def main() -> None:
    """Load, run, print."""
    side, model, arrays = sys.argv[1:]
    with np.load(arrays) as held:
        inputs = {name: held[name] for name in held.files}
    if side == "tinyc":
        import tinyc

        loaded = tinyc.load(model, threads=1)
        run = loaded.run_named
    else:
        from onnxruntime_session import session_of

        session = session_of(model, threads=1)

        def run(inputs: dict[str, np.ndarray]) -> object:
            return session.run(None, inputs)

    after_loading = peak_bytes()
    outputs = run(inputs)
    assert outputs
    print(after_loading, peak_bytes())


if __name__ == "__main__":
    main()
