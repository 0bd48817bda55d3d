"""Statements over tiles → scalar code for one thread: the level that `gpu-to-nvvm` and `gpu-to-cuda` start from."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tinyc.codegen import scalars
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.grid_loops import add_scattered, compute_map, find_topk
from tinyc.dialects.gpu.naive_tile import Ring, epilogue, fma, load_tile, static_shape
from tinyc.dialects.gpu.ops import GLOBAL, SHARED
from tinyc.dialects.gpu.signature import Signature, kernels, signature_of
from tinyc.dialects.gpu.thread_elements import ThreadElements
from tinyc.dialects.gpu.threads import Threads
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.types import TensorType
from tinyc.mlir import ir, memref, passmanager, scf
from tinyc.passes import Pass
from tinyc.text import where


@dataclass(frozen=True)
class GpuExpand(Pass):
    """Write the statements of each kernel out as scalar code for one thread.

    Requires:
        1. The module's kernels are `gpu.func`s of tgpu statements, as --region-to-gpu makes them.
    Ensures:
        1. No statement is left. A buffer is a 1-D memref of its storage type in global memory (bool is a byte,
           unsigned integers are signless) with the tensor that it holds as `tgpu.tensor`; a ring of tiles is a
           `memref.global` of the module, in shared memory, row-major, one tile after the other.
        2. The ops are those of arith, math, scf, `gpu.thread_id`, `gpu.block_id`, `gpu.grid_dim`, `gpu.barrier`,
           `memref.load`, `memref.store`, `tgpu.atomic_add` and `tgpu.report_index`. Sums are carried by loops; no
           thread has memory of its own. 16-bit floats are stored as such, and computed with in f32.
        3. A loop or branch that a statement becomes has a `tgpu.comment`.
    Before:
        !buffer = !region.memref<tensor<300xf32>, [1], 64 : i64, true>
        gpu.module @kernels {
          gpu.func @neg(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
            "tgpu.map"() ({
              %0 = "region.read"(%x) : (!buffer) -> tensor<300xf32>
              %1 = "tiny.neg"(%0) : (tensor<300xf32>) -> tensor<300xf32>
              "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<300xf32>, !buffer) -> ()
              omp.terminator
            }) : () -> ()
            gpu.return
          }
        }
    After:
        !buffer = memref<?xf32, #gpu.address_space<global>>
        gpu.module @kernels {
          gpu.func @neg(%x: !buffer {tgpu.tensor = tensor<300xf32>}, %y: !buffer {tgpu.tensor = tensor<300xf32>})
              kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
            %thread = gpu.thread_id x
            %c300 = arith.constant 300 : index
            %c256 = arith.constant 256 : index
            %block = gpu.block_id x
            %0 = arith.muli %block, %c256 : index
            %first = arith.addi %0, %thread : index
            %blocks = gpu.grid_dim x
            %step = arith.muli %blocks, %c256 : index
            scf.for %i = %first to %c300 step %step {
              %1 = memref.load %x[%i] : !buffer
              %2 = arith.negf %1 : f32
              memref.store %2, %y[%i] : !buffer
            } {tgpu.comment = "map: one element for each thread at a time"}
            gpu.return
          }
        }
    Source: specification 002 (§7, the generated kernel).
    """

    name: ClassVar[str] = "gpu-expand"
    consumes: ClassVar[tuple[str, ...]] = ("tgpu",)
    produces: ClassVar[tuple[str, ...]] = ("gpu", "scf", "arith", "math", "memref", "tgpu")

    def run(self, module: Any) -> None:
        """Replace every kernel of statements in `module`."""
        for function in kernels(module):
            _expand(function)
            function.operation.erase()
        # No canonicalisation: it would fold a rounding of an integer to f16 into a conversion that computes in f16.
        passmanager.PassManager.parse(
            "builtin.module(gpu.module(gpu.func(cse,loop-invariant-code-motion,cse)))", module.context
        ).run(module.operation)


def _expand(function: Any) -> None:
    """Write the scalar form of a kernel in front of it."""
    signature = signature_of(function)
    old = function.operation.regions[0].blocks[0]
    with ir.InsertionPoint(function.operation), function.operation.location as location:
        types = signature.flat_types(ir.Attribute.parse(GLOBAL))
        attributes = dict(function.operation.attributes.items())
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
        attributes["arg_attrs"] = signature.flat_attributes()
        created = ir.Operation.create("gpu.func", attributes=attributes, regions=1)
        block = created.regions[0].blocks.append(*types, arg_locs=[location] * len(types))
        with ir.InsertionPoint(block):
            _Expansion(created, signature, list(block.arguments)).block(old)


class _Expansion:
    """The scalar form of one kernel, written at the insertion point; knows what each value of the old one became."""

    def __init__(self, function: Any, signature: Signature, arguments: list[Any]) -> None:
        self.function = function
        self.elements = ThreadElements(
            signature.buffers(arguments), signature.symbols(arguments), signature.status(arguments)
        )
        self.threads = Threads(self.elements, function)
        self.values: dict[Any, Any] = dict(zip(signature.arguments, arguments, strict=True))
        self.sums: dict[Any, list[Any]] = {}  # a tile of sums → those of this thread
        self.rings: dict[Any, Ring] = {}

    def block(self, block: Any) -> None:
        """Write what the ops of a block of the old kernel become."""
        for op in block.operations:
            with op.operation.location:
                self._STATEMENTS.get(op.operation.name, _Expansion._copy)(self, op.operation)

    def _copy(self, op: Any) -> None:
        if len(op.regions):
            raise TinycError("InvalidIr", f"'{op.name}' cannot hold statements; use scf.for", where(op.location))
        copy = op.clone()
        for position, operand in enumerate(op.operands):
            copy.operands[position] = self.values[operand]
        self.values.update(zip(op.results, copy.results, strict=True))

    # --- loops around statements --------------------------------------------------------------------------------------

    def _flat(self, values: Any) -> list[Any]:
        """Return what values became, a tile of sums being several."""
        return [each for value in values for each in self.sums.get(value) or [self.values[value]]]

    def _for(self, op: Any) -> None:
        low, high, step, *starts = op.operands
        nest = scf.ForOp(self.values[low], self.values[high], self.values[step], self._flat(starts))
        for name, attribute in op.attributes.items():
            nest.operation.attributes[name] = attribute
        body = op.regions[0].blocks[0]
        self.values[body.arguments[0]] = nest.induction_variable
        self._regroup(list(body.arguments)[1:], starts, list(nest.inner_iter_args))
        with self.elements.block(nest.body):
            self.block(body)
        self._regroup(list(op.results), starts, list(nest.results))

    def _regroup(self, values: list[Any], like: list[Any], flat: list[Any]) -> None:
        """Say that `values`, each as many as what the value of `like` became, are now `flat`."""
        rest = iter(flat)
        for value, example in zip(values, like, strict=True):
            if example in self.sums:
                self.sums[value] = [next(rest) for _ in self.sums[example]]
            else:
                self.values[value] = next(rest)

    def _yield(self, op: Any) -> None:
        scf.yield_(self._flat(op.operands))

    # --- statements ---------------------------------------------------------------------------------------------------

    def _alloc_smem(self, op: Any) -> None:
        tile, stages = (parameter.maybe_downcast() for parameter in op.results[0].type.params)
        tensor = tensor_type(tile.value)
        kind = ir.MemRefType.get(
            [math.prod(static_shape(tensor)) * stages.value],
            scalars.storage_type(tensor.element),
            memory_space=ir.Attribute.parse(SHARED),
        )
        name = self._free_name(f"{self.function.attributes['sym_name'].value}_{chr(ord('A') + len(self.rings))}")
        with ir.InsertionPoint(self.function):
            memref.GlobalOp(name, kind, sym_visibility="private", initial_value=ir.UnitAttr.get())
        self.rings[op.results[0]] = Ring(memref.get_global(kind, name), tensor)

    def _free_name(self, name: str) -> str:
        """Return `name`, with underscores behind it if something else in the module has it."""
        named = (op.operation.attributes.get("sym_name") for op in self.function.block.operations)
        taken = {symbol.value for symbol in named if isinstance(symbol, ir.StringAttr)}
        while name in taken:
            name += "_"
        return name

    def _zero(self, op: Any) -> None:
        tile = _sums_type(op.results[0])
        zero = scalars.constant(tile.element, 0)
        self.sums[op.results[0]] = [zero] * (math.prod(static_shape(tile)) // self.threads.count)

    def _load_tile(self, op: Any) -> None:
        tiles, slot, *at = op.operands
        place = [self.values[each] for each in at]
        load_tile(self.elements, self.threads, op, self.rings[tiles], self.values[slot], place)

    def _fma(self, op: Any) -> None:
        lhs, rhs, slot, sums = op.operands
        tiles, element = (self.rings[lhs], self.rings[rhs]), _sums_type(sums).element
        self.sums[op.results[0]] = fma(self.elements, self.threads, tiles, self.values[slot], self.sums[sums], element)

    def _epilogue(self, op: Any) -> None:
        sums, *at = op.operands
        place = [self.values[each] for each in at]
        epilogue(self.elements, self.threads, op, _sums_type(sums), self.sums[sums], place)

    def _map(self, op: Any) -> None:
        compute_map(self.elements, self.threads, op)

    def _topk(self, op: Any) -> None:
        find_topk(self.elements, self.threads, op)

    def _scatter_add(self, op: Any) -> None:
        add_scattered(self.elements, self.threads, op)

    _STATEMENTS: ClassVar[dict[str, Callable[["_Expansion", Any], None]]] = {
        "scf.for": _for,
        "scf.yield": _yield,
        "tgpu.alloc_smem": _alloc_smem,
        "tgpu.zero": _zero,
        "tgpu.load_tile": _load_tile,
        "tgpu.fma": _fma,
        "tgpu.epilogue": _epilogue,
        "tgpu.map": _map,
        "tgpu.topk": _topk,
        "tgpu.scatter_add": _scatter_add,
    }


def _sums_type(sums: Any) -> TensorType:
    """Return the tile that a `!tgpu.acc` holds."""
    (tile,) = sums.type.params
    return tensor_type(tile.maybe_downcast().value)
