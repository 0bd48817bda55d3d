"""ONNX Runtime on the CPU as the benches run it: a session with so many threads, which runs one op after the other."""

import onnxruntime


def session_of(model: bytes | str, threads: int) -> onnxruntime.InferenceSession:
    """A session for a serialised model or for the file of one, with as many threads, or, of 0, as it chooses."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
