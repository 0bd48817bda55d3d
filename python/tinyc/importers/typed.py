"""The nodes of a Tiny JSON program, one after another, to typed steps.

In: the graph with each node's arguments and the sizes of its symbols. Out: the finished `Steps`. An error stops its
node and, silently, whatever reads that node; all others are still looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tinyc.diagnostics import TinycError, progress
from tinyc.expr.extents import MAX_EXTENT, Dim
from tinyc.formulas.steps import Steps, TypedInput
from tinyc.importers.graph import Graph
from tinyc.importers.repairs import Immediate
from tinyc.importers.spellings import REDUCING_UOPS, Node, result_names
from tinyc.importers.symbols import EXTENT_KEYS, NUMBER_KEYS, Sizes, dims_of, with_dims
from tinyc.importers.uops import Recovered, add_node, require_order
from tinyc.importers.written_shapes import WrittenShapes, resolved_axes
from tinyc.vocabulary.types import TensorType

_Arguments = Mapping[str, Any]


class Typing:
    """One program; `values` has the value of every result name.

    In `arguments` and `declared` the bound symbols are numbers; `labels` has the shapes as they are written.
    """

    def __init__(
        self,
        graph: Graph,
        arguments: Mapping[str, _Arguments],
        declared: Mapping[str, _Arguments],
        labels: WrittenShapes,
        sizes: Sizes,
    ) -> None:
        self.graph, self.arguments, self.declared = graph, arguments, declared
        self.labels, self.sizes = labels, sizes
        self.steps = Steps()
        self.values: dict[str, int] = {}
        self.names = set(graph.results)
        self.inputs: dict[str, TypedInput] = {}

    def run(self, errors: list[TinycError]) -> Steps:
        """The steps of all nodes that can be typed; append what is wrong with the others to `errors`."""
        self._check_symbols(errors)
        for number, node in enumerate(self.graph.nodes, 1):
            progress("import, node", number, len(self.graph.nodes))
            sources = [source for source in node.src if isinstance(source, str)]
            if node.id in self.graph.broken or any(source not in self.values for source in sources):
                continue
            try:
                self._node(node)
            except TinycError as error:
                errors.append(error.at(node.where))
            except Recovered as recovered:
                errors.append(recovered.error.at(node.where))
                self._define(node, self.steps.placeholder(recovered.type))
        self.steps.outputs = [(name, self.values[name]) for name in self.graph.outputs if name in self.values]
        return self.steps

    def _check_symbols(self, errors: list[TinycError]) -> None:
        """Report each symbol that nothing tells, at the first node that has it, and mark the nodes that need it.

        Sizes that must be numbers come first: the shape equations may depend on them.
        """
        nodes = [node for node in self.graph.nodes if node.id not in self.graph.broken]
        numbers = {node.id: self.sizes.unbound(dims_of(self.arguments[node.id], NUMBER_KEYS)) for node in nodes}
        shapes = {node.id: self._shapes(node) for node in nodes}
        untold = {} if any(numbers.values()) else {name: self.sizes.untold(dims) for name, dims in shapes.items()}
        to_bind = set(self.sizes.to_bind()) if any(untold.values()) else set[str]()
        reported: set[str] = set()
        for node in nodes:
            if missing := [name for name in numbers[node.id] if name not in reported]:
                reported.update(missing)
                why = f"must be numbers at compile time; bind {_bindings(missing)}"
                errors.append(_unbound(node, missing, why))
            if missing := [name for name in untold.get(node.id, ()) if name not in reported]:
                reported.update(missing)
                needed = [name for name in missing if name in to_bind]
                rest = ", and the others follow" if len(needed) < len(missing) else ""
                why = f"follow neither from the inputs nor from the shape equations; bind {_bindings(needed)}{rest}"
                errors += [_unbound(node, missing, why)] if needed else []
            if numbers[node.id] or not self.sizes.is_told(shapes[node.id]):
                self.graph.broken.add(node.id)

    def _shapes(self, node: Node) -> tuple[Dim, ...]:
        """The extents that a node states, those under `values` included."""
        declared = (dims_of(self.declared.get(name, {}), EXTENT_KEYS) for name in result_names(node))
        return (*dims_of(self.arguments[node.id], EXTENT_KEYS), *(dim for dims in declared for dim in dims))

    def _node(self, node: Node) -> None:
        arguments = self._resolved(self.arguments[node.id])
        before = len(self.steps.steps)
        if node.uop == "INPUT":
            result = self._input(node, arguments)
        else:
            operands = [self.values[s] if isinstance(s, str) else Immediate(s) for s in node.src]
            if node.uop in REDUCING_UOPS:
                arguments["axes"] = self._axes(node, arguments, operands[0])
            result = add_node(self.steps, node, operands, arguments)
            if node.uop == "RESHAPE":
                self._require_order(node, result)
        self._define(node, result)
        self._name_steps(node, before)

    def _resolved(self, arguments: _Arguments) -> dict[str, Any]:
        """Arguments with every symbol replaced; what must be a number is one, of 64 bits."""
        resolved = with_dims(arguments, lambda dim: self.sizes.shape((dim,))[0])
        for key in NUMBER_KEYS:
            for number in dims_of(resolved, (key,)):
                if not isinstance(number, int) or abs(number) > MAX_EXTENT:
                    message = f"'{key}' has the value {number}, which is not an integer of 64 bits"
                    raise TinycError("InvalidAttribute", message)
        return resolved

    def _require_order(self, node: Node, result: int) -> None:
        """Refuse a scrambling reshape, also by the symbols as written: the meaning does not depend on `bind`."""
        source, tensor = self.values[node.src[0]], self.steps.types[result]
        try:
            require_order(self.steps.types[source].shape, tensor.shape)
            require_order(self.labels.shapes[node.src[0]] or (), self.labels.shapes[node.id] or ())
        except TinycError as error:
            raise Recovered(error, tensor) from None

    def _axes(self, node: Node, arguments: _Arguments, operand: int | Immediate) -> tuple[int, ...]:
        if node.id in self.labels.axes or isinstance(operand, Immediate):
            return self.labels.axes.get(node.id, ())
        return resolved_axes(arguments["axes"], self.steps.types[operand].shape)

    def _input(self, node: Node, arguments: _Arguments) -> int:
        """The program's argument for a tensor id; the nodes that share one must agree on its type."""
        name, tensor = arguments["tensor_id"], TensorType(arguments["element"], arguments["shape"])
        is_weight = arguments["weight"]
        if name not in self.inputs:
            self.steps.input(name, tensor, node.where, is_weight)
            self.inputs[name] = self.steps.inputs[-1]
        first = self.inputs[name]
        if first.type != tensor:
            raise TinycError(
                "ShapeContradiction",
                f"tensor '{name}' is {tensor} here and {first.type} at node '{first.where.node}'; it has one type",
            )
        if first.is_weight != is_weight:
            message = f"tensor '{name}' is a weight at one of '{node.id}' and '{first.where.node}' only"
            raise TinycError("ShapeContradiction", f'{message}; say "weight": true at both')
        return first.value

    def _define(self, node: Node, result: int) -> None:
        """Enter the results of a node, each as `values` declares it."""
        for value, name in enumerate(result_names(node), result):
            self.values[name] = self._as_declared(node, name, value)

    def _as_declared(self, node: Node, name: str, value: int) -> int:
        if name not in self.declared:
            return value
        declared = self._resolved(self.declared[name])
        inferred = self.steps.types[value]
        shape: tuple[Dim, ...] = declared.get("shape", inferred.shape)
        if shape != inferred.shape:
            raise TinycError(
                "ShapeContradiction",
                f"'values' declares '{name}' as {TensorType(inferred.element, shape)}, and the node gives {inferred}; "
                "correct one of them",
            )
        return self.steps.cast(value, declared.get("element", inferred.element), node.where)

    def _name_steps(self, node: Node, start: int) -> None:
        """Name the steps of a node: what gives a result is called like it, what leads there gets a name of its own."""
        steps = self.steps.steps[start:]
        if len(steps) == 1:
            return
        results = {self.values[name]: name for name in result_names(node)}
        for step in steps:
            name = results.get(step.first) or self._fresh(f"{node.id}.{step.op}")
            step.where = replace(step.where, node=name)

    def _fresh(self, name: str) -> str:
        number, fresh = 2, name
        while fresh in self.names:
            fresh, number = f"{name}.{number}", number + 1
        self.names.add(fresh)
        return fresh


def _unbound(node: Node, names: Sequence[str], why: str) -> TinycError:
    listed = ", ".join(f"'{name}'" for name in names)
    return TinycError("UnboundSymbol", f"{node.uop}: the symbols {listed} {why}", node.where)


def _bindings(names: Sequence[str]) -> str:
    return ", ".join(f"{name}=…" for name in names)
