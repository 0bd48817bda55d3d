"""The reference executor: runs a Frontend, Tiny or Region module in numpy, op by op, without access maps.

In: a module and its inputs by name. Out: fresh arrays by output name. Movements are numpy's own (`movement`),
reductions run in the accumulator's type, 16-bit floats compute in f32 and round after each op. With `oracle` floats
are f64.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tinyc.analysis.graphs import main_function, needed_ops
from tinyc.analysis.preconditions import preconditions
from tinyc.diagnostics import TinycError, progress
from tinyc.dialects.frontend import ops as frontend
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.executors import data_dependent, leaves
from tinyc.executors.elements import ORACLE, REFERENCE, Precision, cast_array, convert
from tinyc.executors.elementwise import apply_elementwise, on_distinct_elements
from tinyc.executors.frontend.evaluation import evaluate_op
from tinyc.executors.memory import require_memory
from tinyc.executors.movement import MOVEMENT_FUNCTIONS, PaddedArray
from tinyc.executors.reduction import FactoredProduct, reduce
from tinyc.executors.signature import check_inputs, signature_of, symbol_values
from tinyc.executors.values import cut_pads, summed_products
from tinyc.expr.extents import Extent
from tinyc.mlir import func, ir
from tinyc.mlir.locations import value_name, where
from tinyc.runtime import sizes
from tinyc.runtime.boundary import NamedTensor
from tinyc.runtime.executable import Observer
from tinyc.vocabulary.attributes import arguments, tensor_type
from tinyc.vocabulary.elements import elements_of
from tinyc.vocabulary.run_key import RUN_KEY

#: What stands for a value of the IR: an array, a product that a sum forms, a pad that is cut, or what a launch calls.
Held: TypeAlias = np.ndarray | FactoredProduct | PaddedArray | Kernel


def evaluate_module(
    module: ir.Module,
    inputs: Mapping[str, Any],
    oracle: bool = False,
    observe: Observer | None = None,
    run_key: int = 0,
) -> dict[str, np.ndarray]:
    """Run the program of a Frontend, Tiny or Region module; the outputs have their declared types, also with `oracle`.

    `run_key` is xored to the seeds of random numbers. `observe` is told every named value, as an array of its element
    type.

    Raises:
        TinycError: `InputMismatch`, `AssumptionViolated`, `IndexOutOfRange`; `InvalidIr` for an op of another layer.
    """
    function = main_function(module)
    signature = signature_of(function)
    arrays = check_inputs(signature.inputs, inputs)
    symbols = symbol_values(signature.inputs, arrays)
    known = kernels_of(module)
    with module.context:
        blocks = {name: kernel.bodies for name, kernel in known.items()}
        sizes.check_assumptions(preconditions(function, blocks), symbols)
    precision = ORACLE if oracle else REFERENCE
    run = _Evaluation(symbols, precision, known, observe, run_key)
    held = [convert(arrays[each.name], precision.held(each.type.element)) for each in signature.inputs]
    with np.errstate(all="ignore"), module.context:
        results = run.block(function.regions[0].blocks[0], held)
        return {output.name: _fresh(result, output) for output, result in zip(signature.outputs, results, strict=True)}


def evaluate_body(
    block: ir.Block,
    operands: Sequence[np.ndarray],
    buffers: Mapping[ir.Value, np.ndarray],
    symbols: Mapping[str, int],
) -> list[np.ndarray]:
    """Run the body of a kernel's statement; return what it yields.

    `buffers` are those of the kernel, which it reads as they are; `symbols` has the values of all extents.

    Raises:
        TinycError: as `evaluate_module`.
    """
    run = _Evaluation(symbols, REFERENCE, {}, None, symbols.get(RUN_KEY, 0))
    with np.errstate(all="ignore"):
        return run.block(block, operands, observed=False, outside=buffers)


def _fresh(result: np.ndarray, output: NamedTensor) -> np.ndarray:
    """A dense array of the declared type that nothing else refers to."""
    element = output.type.element
    require_memory(result.shape, element.dtype, f"output '{output.name}'")
    return np.array(on_distinct_elements(lambda x: cast_array(x, element, REFERENCE), result), order="C")


class _Evaluation:
    """One run: values are dropped after their last use."""

    def __init__(
        self,
        symbols: Mapping[str, int],
        precision: Precision,
        known: Mapping[str, Kernel],
        observe: Observer | None,
        run_key: int,
    ) -> None:
        self.symbols, self.precision, self.kernels, self.observe = symbols, precision, known, observe
        self.run_key = run_key

    def block(
        self,
        block: ir.Block,
        operands: Sequence[np.ndarray],
        observed: bool = True,
        outside: Mapping[ir.Value, np.ndarray] | None = None,
    ) -> list[np.ndarray]:
        """Run a body on the values of its first arguments, and of those `outside` of it; return what it hands out.

        The values in a kernel are not `observed`: it may serve several launches, and its ops are named after the first.
        """
        environment: dict[ir.Value, Any] = {**(outside or {}), **dict(zip(block.arguments, operands, strict=False))}
        needed = needed_ops(block)
        products, pads = summed_products(needed), cut_pads(needed)
        last_use = {operand: op for op in needed for operand in op.operands}
        yielded: list[np.ndarray] = []
        for number, op in enumerate(needed, 1):
            progress(f"reference, '{op.operation.name}', op", number, len(needed))
            values: list[Any] = [environment.get(operand) for operand in op.operands]
            if isinstance(op, func.ReturnOp):
                return values
            if not op.results:  # the yield of a kernel, or of a statement
                yielded.append(values[0])
                continue
            made: Sequence[Held]
            if op.results[0] in products:
                made = [FactoredProduct(*values)]
            elif op.results[0] in pads:
                made = [PaddedArray(values[0], arguments(op))]
            else:
                made = self._op(op, values)
            for result, value in zip(op.results, made, strict=True):
                environment[result] = value
                if observed:
                    self._tell(result, value)
            for operand in set(op.operands):
                if last_use[operand] == op:
                    del environment[operand]
        return yielded

    def _tell(self, result: ir.OpResult, value: Held) -> None:
        if self.observe is None or not isinstance(value, np.ndarray):
            return
        name = value_name(result)
        if name is not None:
            self.observe(name, cast_array(value, tensor_type(result.type).element, REFERENCE))

    def _op(self, op: ir.OpView, values: list[Any]) -> Sequence[Held]:
        match op:
            case tiny.TinyOp():
                try:
                    return self._tiny(op, values)
                except TinycError as error:
                    raise error.at(where(op.location)) from None
            case frontend.FrontendOp():
                try:
                    return evaluate_op(op, values, self.precision, self._sizes)
                except TinycError as error:
                    raise error.at(where(op.location)) from None
            case region.ReadOp():
                return values
            case region.LaunchOp():
                return [self.kernels[op.kernel.value]]
            case func.CallIndirectOp():
                kernel, *operands = values
                return self.block(kernel.block, operands, observed=False)
        raise TinycError(
            "InvalidIr", f"the reference runs Frontend, Tiny and Region modules, and '{op.name}' is of another layer"
        )

    def _tiny(self, op: tiny.TinyOp, values: list[Any]) -> Sequence[np.ndarray]:
        given = {key: self._sizes(value) for key, value in arguments(op).items()}
        elements = [tensor_type(operand.type).element for operand in op.operands]
        match op:
            case tiny.ShrinkOp() if isinstance(values[0], PaddedArray):
                return [values[0].cut(given)]
            case tiny.MovementOp():
                return [MOVEMENT_FUNCTIONS[op._op_name](values[0], given)]
            case tiny.CastOp():
                return [on_distinct_elements(lambda x: cast_array(x, given["element"], self.precision), *values)]
            case tiny.ElementwiseOp():
                return [apply_elementwise(op.row, values, elements[-1], self.precision)]
            case tiny.ReduceOp():
                return [reduce(values[0], given["op"], given["axes"], given["element"], self.precision)]
            case tiny.ConstOp() if op.is_stored:
                return [convert(elements_of(op.value), self.precision.held(given["element"]))]
            case tiny.ConstOp():
                return [leaves.const(given, self.precision)]
            case tiny.IotaOp():
                return [leaves.iota(given, self.precision)]
            case tiny.RandOp():
                return [leaves.rand({**given, "seed": given["seed"] ^ self.run_key}, self.precision)]
            case tiny.GatherOp():
                return [data_dependent.gather(values[0], values[1], given["axis"])]
            case tiny.ScatterOp():
                data, index, updates = values
                axis, how = given["axis"], given["op"]
                return [data_dependent.scatter(data, index, updates, axis, how, elements[0], self.precision)]
            case tiny.TopkOp():
                arithmetic = self.precision.arithmetic(elements[0])
                return data_dependent.topk(values[0], given["k"], given["axis"], given["largest"], arithmetic)
        raise TinycError("InvalidIr", f"the reference has no meaning for '{op.name}'")

    def _sizes(self, value: Any) -> Any:
        """An argument with its symbolic extents as numbers."""
        if isinstance(value, tuple) and any(isinstance(entry, Extent) for entry in value):
            return tuple(sizes.extent_value(entry, self.symbols) for entry in value)
        return value
