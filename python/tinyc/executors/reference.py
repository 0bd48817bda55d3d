"""The reference executor: runs a Tiny or Region module in numpy, op by op, without the access maps of the compiler.

In: a module and its inputs by name. Out: fresh arrays by output name. Movements are numpy's own (`movement`), sums run
in the accumulator's type, and 16-bit floats compute in f32 and round after each op. With `oracle` every float is f64.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinyc.analysis.extents import Extent
from tinyc.analysis.graphs import main_function, needed_ops
from tinyc.analysis.preconditions import preconditions
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.verify import block_of, kernels
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.executors import data_dependent, leaves
from tinyc.executors.elements import DTYPES, ORACLE, REFERENCE, Precision, cast, convert
from tinyc.executors.elementwise import elementwise, on_distinct_elements
from tinyc.executors.memory import require_memory
from tinyc.executors.movement import MOVEMENT
from tinyc.executors.reduction import Product, reduce
from tinyc.executors.signature import Parameter, check_inputs, signature_of, symbol_values
from tinyc.executors.values import summed_products, value_name
from tinyc.runtime import sizes
from tinyc.text import where

#: Told every named value: the name of its op (a node id), the value, and its element type.
Observer = Callable[[str, np.ndarray, str], None]


def evaluate(
    module: Any, inputs: Mapping[str, Any], oracle: bool = False, observe: Observer | None = None
) -> dict[str, np.ndarray]:
    """Run the program of a Tiny or Region module; the outputs have their declared types, also with `oracle`.

    Raises:
        TinycError: `InputMismatch`, `AssumptionViolated`, `IndexOutOfRange`; `InvalidIr` for an op of another layer.
    """
    function = main_function(module)
    signature = signature_of(function)
    arrays = check_inputs(signature.inputs, inputs)
    symbols = symbol_values(signature.inputs, arrays)
    known = kernels(module)
    with module.context:
        sizes.check_assumptions(preconditions(function, known), symbols)
    precision = ORACLE if oracle else REFERENCE
    run = _Evaluation(symbols, precision, known, observe)
    held = [convert(arrays[each.name], precision.held(each.type.element)) for each in signature.inputs]
    with np.errstate(all="ignore"), module.context:
        results = run.block(function.regions[0].blocks[0], held)
        return {output.name: _fresh(result, output) for output, result in zip(signature.outputs, results, strict=True)}


def _fresh(result: np.ndarray, output: Parameter) -> np.ndarray:
    """Return a dense array of the declared type that nothing else refers to."""
    element = output.type.element
    require_memory(result.shape, DTYPES[element], f"output '{output.name}'")
    return np.array(on_distinct_elements(lambda x: cast(x, element, REFERENCE), result), order="C")


class _Evaluation:
    """One run: values are dropped after their last use."""

    def __init__(
        self, symbols: Mapping[str, int], precision: Precision, known: Mapping[str, Any], observe: Observer | None
    ) -> None:
        self.symbols, self.precision, self.kernels, self.observe = symbols, precision, known, observe

    def block(self, block: Any, operands: list[np.ndarray], observed: bool = True) -> list[np.ndarray]:
        """Run a body on the values of its first arguments; return what it returns or yields.

        The values in a kernel are not `observed`: it may serve several launches, and its ops are named after the first.
        """
        environment: dict[Any, Any] = dict(zip(block.arguments, operands, strict=False))
        needed = needed_ops(block)
        products = summed_products(needed)
        last_use = {operand: op for op in needed for operand in op.operation.operands}
        yielded: list[Any] = []
        for op in needed:
            values: list[Any] = [environment.get(operand) for operand in op.operation.operands]
            if op.operation.name == "func.return":
                return values
            if op.operation.name == "region.yield":
                yielded.append(values[0])
                continue
            results = list(op.operation.results)
            made = [Product(*values)] if results[0] in products else self._op(op, values)
            for result, value in zip(results, made, strict=True):
                environment[result] = value
                if observed:
                    self._tell(result, value)
            for operand in set(op.operation.operands):
                if last_use[operand] == op:
                    del environment[operand]
        return yielded

    def _tell(self, result: Any, value: Any) -> None:
        if self.observe is None or not isinstance(value, np.ndarray):
            return
        name = value_name(result)
        if name is not None:
            self.observe(name, value, tensor_type(result.type).element)

    def _op(self, op: Any, values: list[Any]) -> list[Any]:
        name = op.operation.name
        if name.startswith("tiny."):
            try:
                return self._tiny(op, name.removeprefix("tiny."), values)
            except TinycError as error:
                raise error.at(where(op.location)) from None
        if name == "region.read":
            return values
        if name == "region.launch":
            return [self.kernels[op.operation.attributes["kernel"].value]]
        if name == "func.call_indirect":
            kernel, *operands = values
            return self.block(block_of(kernel), operands, observed=False)
        raise TinycError("InvalidIr", f"the reference runs Tiny and Region modules, and '{name}' is of another layer")

    def _tiny(self, op: Any, name: str, values: list[Any]) -> list[Any]:
        elements = [tensor_type(operand.type).element for operand in op.operation.operands]
        given = {key: self._sizes(value) for key, value in arguments(op).items()}
        if name in MOVEMENT:
            return [MOVEMENT[name](values[0], given)]
        if name in _COMPUTE:
            return _COMPUTE[name](values, elements, given, self.precision)
        return [elementwise(name, values, elements[-1], self.precision)]

    def _sizes(self, value: Any) -> Any:
        """Return an argument with its symbolic extents as numbers."""
        if isinstance(value, tuple) and any(isinstance(entry, Extent) for entry in value):
            return tuple(sizes.evaluate(entry, self.symbols) for entry in value)
        return value


def _scatter(values: list[Any], elements: list[str], given: Mapping[str, Any], precision: Precision) -> list[Any]:
    data, index, updates = values
    return [data_dependent.scatter(data, index, updates, given["axis"], given["op"], elements[0], precision)]


def _topk(values: list[Any], elements: list[str], given: Mapping[str, Any], precision: Precision) -> list[Any]:
    arithmetic = precision.arithmetic(elements[0])
    return list(data_dependent.topk(values[0], given["k"], given["axis"], given["largest"], arithmetic))


_COMPUTE: dict[str, Callable[..., list[Any]]] = {
    "const": lambda values, elements, given, precision: [leaves.const(given, precision)],
    "iota": lambda values, elements, given, precision: [leaves.iota(given, precision)],
    "rand": lambda values, elements, given, precision: [leaves.rand(given, precision)],
    "cast": lambda values, elements, given, precision: [
        on_distinct_elements(lambda x: cast(x, given["element"], precision), *values)
    ],
    "reduce": lambda values, elements, given, precision: [
        reduce(values[0], given["op"], given["axes"], given["element"], precision)
    ],
    "gather": lambda values, elements, given, precision: [data_dependent.gather(values[0], values[1], given["axis"])],
    "scatter": _scatter,
    "topk": _topk,
}
