"""Runs whole programs whose kernels are `gpu.func`s, without a GPU.

By threads in numpy, each kernel sequentially, or as emitted PTX on the simulator: `by_threads`, `sequentially` and
`on_the_simulator` take a module as --region-to-gpu leaves it, and inputs by name; they give the outputs by
name. Buffers that a kernel writes are poisoned before.
"""

import ctypes

import numpy as np

import tinyc
from tinyc import pipeline
from tinyc.analysis.graphs import main_function
from tinyc.dialects.cuda.main.reference.function import reference_of
from tinyc.dialects.exec.expand_f16 import ExecExpandF16
from tinyc.dialects.exec.to_llvm.llvm_ir import llvm_ir_of
from tinyc.dialects.exec.to_program import constants_of, program_of
from tinyc.dialects.gpu.kernel import gpu_kernels_of, kernels_of_statements
from tinyc.executors.gpu.program import ThreadsExecutable
from tinyc.executors.signature import signature_of, symbol_values
from tinyc.mlir import arith, ir, memref
from tinyc.passes.runner import run_passes
from tinyc.pipeline import LOOPS_TO_LLVM
from tinyc.runtime import sizes
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_code import Code
from tinyc.runtime.program import STATUS_WORDS
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.elements import elements_of
from tinyc.vocabulary.run_key import RUN_KEY

POISON = 0xA5


class OutOfRange(Exception):
    """A kernel has noted an index that is none."""


def by_threads(module, inputs):
    """Run the kernels of the GPU layer, all threads of their grids, or all tiles."""
    pipeline.parse("region-to-exec").run(module)
    return _in_range(lambda: ThreadsExecutable(program_of(module), module, constants_of(module)).run(inputs))


def on_the_simulator(module, inputs):
    """Run the PTX that is emitted for the kernels, with all checks."""
    return _in_range(lambda: tinyc.compile(module, target="sim").run(**inputs))


def _in_range(work):
    try:
        return work()
    except tinyc.TinycError as error:
        if error.name != "IndexOutOfRange":
            raise
        raise OutOfRange(str(error)) from error


def expanded(module):
    """Take the kernels of a module to the scalar level; return them by name."""
    pipeline.parse("gpu-expand").run(module)
    return gpu_kernels_of(module)


def sequentially(module, inputs):
    """Run the sequential form of the kernels as machine code."""
    functions = {kernel.name: kernel for kernel in kernels_of_statements(module)}
    code = {name: compiled(kernel) for name, kernel in functions.items()}

    def execute(name, arguments, symbols):
        call(code[name], arguments)

    return _run_host(module, functions, inputs, execute)


def compiled(kernel):
    """Compile the sequential form of a kernel."""
    with kernel.op.context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            created = reference_of(kernel)
            name = created.operation.attributes["sym_name"].value
            _move_bits(created)
    run_passes(module, (ExecExpandF16(), *LOOPS_TO_LLVM))
    return Code(compile_object(llvm_ir_of(module)).image, [name])


def _move_bits(function):
    """Make 16-bit floats in memory their bits: a CPU without them would call a function to move one."""
    bits = ir.IntegerType.get_signless(16)
    block = function.regions[0].blocks[0]
    for buffer in (argument for argument in block.arguments if "f16" in str(argument.type)):
        buffer.set_type(ir.MemRefType.get(buffer.type.shape, bits))
        for op in [use.owner.operation for use in buffer.uses]:
            with ir.InsertionPoint(op):
                if op.name == "memref.load":
                    loaded = arith.bitcast(op.results[0].type, memref.load(buffer, [op.operands[1]]))
                    op.results[0].replace_all_uses_with(loaded)
                else:
                    memref.store(arith.bitcast(bits, op.operands[0]), buffer, [op.operands[2]])
            op.erase()
    types = [argument.type for argument in block.arguments]
    function.operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))


def call(code, arguments):
    """Call a function of 1-D memrefs and indices, as MLIR passes them: a memref is five words."""
    words = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            words += [argument.ctypes.data, argument.ctypes.data, 0, argument.size, 1]
        else:
            words.append(argument)
    ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(words))(*code.addresses.values())(*words)


def _run_host(module, functions, inputs, execute):
    host = main_function(module)
    signature = signature_of(host)
    symbols = symbol_values(signature.inputs, inputs)
    block = host.regions[0].blocks[0]
    values = {a: inputs[p.name] for a, p in zip(block.arguments, signature.inputs, strict=True)}
    for op in block.operations:
        op = op.operation
        operands = [values[operand] for operand in op.operands]
        if op.name == "func.return":
            return dict(zip((each.name for each in signature.outputs), operands, strict=True))
        if op.name == "region.launch":
            values[op.results[0]] = op.attributes["kernel"].value
        elif op.name == "func.call_indirect":
            name, *read = operands
            outputs = [_poisoned(result.type, symbols) for result in op.results]
            _launch(functions, name, [*read, *outputs], symbols, execute)
            values.update(zip(op.results, outputs, strict=True))
        elif op.name == "tiny.const":
            values[op.results[0]] = elements_of(op.attributes["value"])
        elif op.name == "tiny.reshape":
            values[op.results[0]] = operands[0].reshape(_shape(op.results[0].type, symbols))
        else:
            assert op.name == "tiny.assume", op.name
    raise AssertionError("a function without an end")


def _launch(functions, name, tensors, symbols, execute):
    kernel, status = functions[name], np.zeros(STATUS_WORDS, np.int64)
    arguments = [_row(tensor) for tensor in tensors] + ([] if kernel.status is None else [status])
    arguments += [symbols.get(symbol, 0) if symbol == RUN_KEY else symbols[symbol] for symbol in kernel.symbols]
    if kernel.init is not None:
        execute(kernel.init, arguments, symbols)
    execute(name, arguments, symbols)
    if status[0]:
        raise OutOfRange(int(status[1]))


def _row(tensor):
    """Return a tensor's memory as one row of its storage type."""
    kind = {"b": np.int8, "u": np.dtype(f"i{tensor.itemsize}")}.get(tensor.dtype.kind, tensor.dtype)
    return np.ascontiguousarray(tensor).reshape(-1).view(kind)


def _shape(mlir_type, symbols):
    return tuple(sizes.extent_value(extent, symbols) for extent in tensor_type(mlir_type).shape)


def _poisoned(mlir_type, symbols):
    shape, dtype = _shape(mlir_type, symbols), tensor_type(mlir_type).element.dtype
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[:] = POISON
    return array
