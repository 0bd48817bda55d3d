"""The `exec` dialect: the host function as buffers and launches; nothing here is a value.

An extent is an `i64` or canonical text: `offset = "8*M"`. Sizes and offsets are in bytes. The parameters of a launch
are `#exec.ptr<"temp_0", tensor<…>>` (the buffer's address; the kernel sees it as a dense array of that tensor's shape),
`#exec.status<0>` (the slot of the status buffer in which the kernel reports an index that is out of range) and
`#exec.extent<"M">`.
"""

from typing import Any

from tinyc.mlir import ext, ir


class Exec(ext.Dialect, name="exec"):
    """The host program: one arena, buffers at offsets, kernels in generations."""


class PtrAttr(Exec.Attribute, name="ptr"):
    """Parameter: the address of a buffer, seen as a dense row-major array of the tensor's shape."""

    buffer: ir.StringAttr
    tensor: Any


class StatusAttr(Exec.Attribute, name="status"):
    """Parameter: the address of two i64 of the status buffer: 1 once an index was out of range, and that index."""

    slot: ir.IntegerAttr


class ExtentAttr(Exec.Attribute, name="extent"):
    """Parameter: the value of an extent."""

    value: Any


class ExecOp(Exec.Operation):
    """What every op of the layer shares: the rule of its name in `verify`, reported at the op."""

    def verify_invariants(self: Any) -> bool:
        """Check the op's attributes; report what is wrong at its location."""
        from tinyc.dialects.exec.verify import report_op

        return report_op(self)


class FunctionOp(ExecOp, name="function"):
    """The host program: `symbols` in the order of the ABI, the names of the inputs and outputs, the arena's size."""

    sym_name: ir.StringAttr
    symbols: ir.ArrayAttr
    inputs: ir.ArrayAttr
    outputs: ir.ArrayAttr
    arena_bytes: Any
    body: ext.Region


class AssumeOp(ExecOp, name="assume"):
    """A relation between extents that holds at run time, or the program is not run: `lhs == rhs` or `lhs <= rhs`."""

    lhs: Any
    predicate: ir.StringAttr
    rhs: Any


class BufferOp(ExecOp, name="buffer"):
    """Memory for one tensor: an `input` or `output` of the function, or an `arena` buffer at `offset`.

    `memory_space` is "host", or "device" for what kernels on a GPU work on: there an input or output is the copy that
    the device has of the caller's array.
    """

    buffer: ir.StringAttr
    kind: ir.StringAttr
    memory_space: ir.StringAttr
    offset: Any
    size: Any
    tensor: Any


class KernelOp(ExecOp, name="kernel"):
    """One launch: on a GPU of `grid` blocks of `block` threads, where a grid with a 0 is no launch.

    On the CPU `grid[0]` is the trip count of the parallel outer loop, and all other sizes are 1. Kernels of one
    `generation` are independent of each other; a generation starts when the one before it is done. A kernel that also
    reads what it writes updates it in place: an earlier generation has written it.
    """

    symbol: Any
    generation: ir.IntegerAttr
    grid: ir.ArrayAttr
    block: ir.ArrayAttr
    cluster: ir.ArrayAttr
    dynamic_shared_bytes: Any
    parameters: ir.ArrayAttr
    reads: ir.ArrayAttr
    writes: ir.ArrayAttr
