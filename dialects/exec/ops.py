"""The ops of the `exec` dialect: the host function as buffers and launches; nothing here is a value.

Each op means a piece of `tinyc.runtime.program`, which its `meaning` is: the verifier, the lowering to LLVM and
`to_program` read the layer through it, so that what an attribute means is written down once. Sizes and offsets are in
bytes.
"""

from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.attributes import (
    Exec,
    alternatives_of,
    distinct_texts_of,
    extent_of,
    flag_of,
    grid_of,
    indexes_of,
    launch_parameters_of,
    maximum_of,
    nonempty_text_of,
    pairs_of,
    place_of,
    size_of,
    symbol_of,
    tensor_of,
    word_of,
)
from tinyc.mlir import ext, ir
from tinyc.mlir.bodies import body_of
from tinyc.mlir.locations import where
from tinyc.mlir.verifying import Malformed, report_op
from tinyc.runtime.program import POOL_KINDS, Assumption, Buffer, KernelLaunch, Program
from tinyc.vocabulary.elements import is_elements


class AssumeOp(Exec.Operation, name="assume"):
    """A relation between extents that holds at run time, or the program is not run: `lhs == rhs` or `lhs <= rhs`."""

    lhs: Any
    predicate: ir.StringAttr
    rhs: Any

    def meaning(self) -> Assumption:
        """The relation.

        Raises:
            TinycError: `InvalidAttribute`, `InvalidExtent`.
        """
        predicate = word_of(self.attributes, "predicate", ("eq", "le"))
        lhs, rhs = (extent_of(self.attributes, side) for side in ("lhs", "rhs"))
        return Assumption(lhs, predicate, rhs, where(self.location))

    def verify_invariants(self) -> bool:
        """Check the op by itself; report what is wrong at its location."""
        return report_op(self, AssumeOp.meaning)


class BufferOp(Exec.Operation, name="buffer"):
    """Memory for one tensor: an `input` or `output` of the function, an `arena` buffer at `offset`, or in the pool.

    At an `offset` into the ConstPool lie a `weight`, a `constant`, whose elements are the attribute `value`, and what
    is `prepared` of these by kernels that run once.
    `memory_space` is "host", or "device" for what kernels on a GPU work on: there an input or output is the copy that
    the device has of the caller's array. Two more attributes may be left out: `exec.node` is the user's node whose
    value it holds, and `exec.indexes`, of an input whose elements are positions, has the extents of the axes that they
    index.
    """

    buffer: ir.StringAttr
    kind: ir.StringAttr
    memory_space: ir.StringAttr
    offset: Any
    size: Any
    tensor: Any
    optional_attributes = ("value",)

    @property
    def value(self) -> ir.Attribute | None:
        """The elements of a constant."""
        return self.attributes.get("value", None)

    def meaning(self) -> Buffer:
        """The buffer.

        Raises:
            TinycError: `InvalidAttribute`, `InvalidExtent`.
        """
        held = tensor_of(self.attributes["tensor"])
        return Buffer(
            name=nonempty_text_of(self.attributes, "buffer"),
            kind=word_of(self.attributes, "kind", ("input", "output", "arena", *POOL_KINDS)),
            memory_space=word_of(self.attributes, "memory_space", ("host", "device")),
            offset=extent_of(self.attributes, "offset"),
            size=extent_of(self.attributes, "size"),
            element=held.element,
            shape=held.shape,
            where=place_of(self.attributes, self.location),
            indexes=indexes_of(self.attributes),
        )

    def verify_invariants(self) -> bool:
        """Check the op by itself; report what is wrong at its location."""
        return report_op(self, BufferOp._check)

    def _check(self) -> None:
        held, tensor = self.meaning(), self.attributes["tensor"]
        if (held.kind == "constant") != (self.value is not None):
            has = "needs its elements in 'value'" if held.kind == "constant" else "has a 'value', and is no constant"
            raise Malformed(f"'{held.name}' is of kind '{held.kind}' and {has}")
        if self.value is not None and not (is_elements(self.value) and tensor == ir.TypeAttr.get(self.value.type)):
            raise Malformed(f"'{held.name}': 'value' must be the elements of a {tensor}")


class KernelOp(Exec.Operation, name="kernel"):
    """One launch, and all that its device has to know: the launch contract.

    symbol                  the kernel: a region or a function of the module, or an entry of its GPU code
    generation              0, 1, …: a generation starts when the one before it is done; its kernels are independent
    grid                    on a GPU the CTAs along x, y and z, where a 0 is no launch; on the CPU `grid[0]` is the trip
                            count of the parallel outer loop, and all other sizes are 1
    block                   the threads of a CTA along x, y and z
    cluster                 the CTAs of a cluster along x, y and z, which divide the grid; on the CPU 1
    dynamic_shared_bytes    shared memory of a CTA that is sized at the launch
    parameters              in the order of the kernel's function: the addresses of its buffers, inputs first; a status
                            slot where indices come from data; the extents that it needs; tensor maps of its buffers
    exec.node               the user's node that it computes; may be left out
    prepare                 that it runs once, when the weights are set, and writes `prepared` buffers; may be left out
    reads, writes           the names of its buffers; one that it reads and writes it updates in place, after an earlier
                            generation has written it
    exec.alternatives       kernels that take its place, the first of them whose `guards` hold at the sizes of a run:
                            a dictionary each, of guards such as ["M", "eq", 128], symbol, grid, block, cluster,
                            dynamic_shared_bytes and parameters; may be left out
    in_place                pairs of a buffer of the arena that it reads, the last to do so, and one that it writes in
                            the same place, as the kernel offers; may be left out
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
    optional_attributes = ("in_place", "prepare")

    def meaning(self) -> KernelLaunch:
        """The launch.

        Raises:
            TinycError: `InvalidAttribute`, `InvalidExtent`.
        """
        generation = extent_of(self.attributes, "generation")
        if not isinstance(generation, int) or generation < 0:
            raise TinycError("InvalidAttribute", f"'generation' is {generation}; it must be 0, 1, …")
        return KernelLaunch(
            symbol=symbol_of(self.attributes),
            generation=generation,
            grid=grid_of(self.attributes, "grid"),
            block=grid_of(self.attributes, "block"),
            cluster=grid_of(self.attributes, "cluster"),
            dynamic_shared_bytes=extent_of(self.attributes, "dynamic_shared_bytes"),
            parameters=launch_parameters_of(self.attributes),
            reads=distinct_texts_of(self.attributes, "reads"),
            writes=distinct_texts_of(self.attributes, "writes"),
            where=place_of(self.attributes, self.location),
            alternatives=alternatives_of(self.attributes),
            in_place=pairs_of(self.attributes, "in_place"),
            prepare=flag_of(self.attributes, "prepare"),
        )

    def verify_invariants(self) -> bool:
        """Check the op by itself; report what is wrong at its location."""
        return report_op(self, KernelOp.meaning)


class FunctionOp(Exec.Operation, name="function"):
    """The host program: `symbols` in the order of the ABI, the names of the inputs and outputs, the arena's size.

    The size is an extent, or an array of several, of which it is the largest.
    Where it has a ConstPool, `weights` are the names of the inputs that are given once, and `pool_bytes` is its size.
    """

    sym_name: ir.StringAttr
    symbols: ir.ArrayAttr
    inputs: ir.ArrayAttr
    outputs: ir.ArrayAttr
    arena_bytes: Any
    body: ext.Region
    optional_attributes = ("weights", "pool_bytes")

    @property
    def buffers(self) -> list[BufferOp]:
        """The buffers, in order."""
        return [op for op in body_of(self) if isinstance(op, BufferOp)]

    @property
    def kernels(self) -> list[KernelOp]:
        """The launches, in order."""
        return [op for op in body_of(self) if isinstance(op, KernelOp)]

    def meaning(self) -> Program:
        """The program, with everything in its body.

        Raises:
            TinycError: `InvalidAttribute`, `InvalidExtent`.
        """
        return Program(
            name=nonempty_text_of(self.attributes, "sym_name"),
            symbols=distinct_texts_of(self.attributes, "symbols"),
            inputs=distinct_texts_of(self.attributes, "inputs"),
            outputs=distinct_texts_of(self.attributes, "outputs"),
            assumptions=tuple(op.meaning() for op in body_of(self) if isinstance(op, AssumeOp)),
            buffers=tuple(op.meaning() for op in self.buffers),
            kernels=tuple(op.meaning() for op in self.kernels),
            arena_bytes=maximum_of(self.attributes, "arena_bytes"),
            weights=distinct_texts_of(self.attributes, "weights") if "weights" in self.attributes else (),
            pool_bytes=size_of(self.attributes, "pool_bytes") if "pool_bytes" in self.attributes else 0,
        )

    def verify_invariants(self) -> bool:
        """Check the op by itself, and what kinds of ops its body has; report what is wrong at its location."""
        return report_op(self, FunctionOp._check)

    def _check(self) -> None:
        if len(self.regions) != 1 or len(self.regions[0].blocks) != 1:
            raise Malformed("must have one region of one block")
        for op in body_of(self):
            if not isinstance(op, AssumeOp | BufferOp | KernelOp):
                raise Malformed(f"may hold exec.assume, exec.buffer, exec.kernel, not '{op.operation.name}'")
        nonempty_text_of(self.attributes, "sym_name")
        for name in ("symbols", "inputs", "outputs"):
            distinct_texts_of(self.attributes, name)
        maximum_of(self.attributes, "arena_bytes")
        if "weights" in self.attributes:
            distinct_texts_of(self.attributes, "weights")
        if "pool_bytes" in self.attributes:
            size_of(self.attributes, "pool_bytes")


def exec_functions(module: ir.Module) -> list[FunctionOp]:
    """The `exec.function`s of a module."""
    return [op for op in module.body.operations if isinstance(op, FunctionOp)]
