"""Links a module: every kernel with the functions that it can reach becomes flat code, every variable gets its place.

In: a `syntax.ModuleTree`. Out: a `code.Program`. Source: PTX ISA §5.1, §5.4 (variables, alignment), §7 (functions).
"""

import collections
from dataclasses import dataclass, replace

from ptxsim.errors import PtxError
from ptxsim.linking.code import Code, Patch, Program, Routine, Segment
from ptxsim.linking.layout import Layout, aligned
from ptxsim.linking.references import References, in_cycles, references
from ptxsim.linking.resolve import Places, Resolver
from ptxsim.parsing.syntax import Function, FunctionAddress, Location, ModuleTree, Relocation, Variable

#: Functions have addresses that no variable has, one after the other.
_FIRST_FUNCTION = 0x100
_FUNCTION_STEP = 0x10

#: Many kernels that all reach many functions make long code of a short text.
_MOST_INSTRUCTIONS = 1_000_000

#: Stands for a call through a register, which may be to any function that is named; no name of PTX.
_POINTER = "*"


def link(module: ModuleTree) -> Program:
    """The module's kernels as flat code.

    Raises: PtxError with the line for a name that is not declared, a call that does not fit, or too much of anything.
    """
    return _Linker(module).program()


@dataclass
class _Reached:
    """The functions that a kernel can reach, itself first, and those of them that can be called recursively."""

    functions: list[Function]
    recursive: set[str]
    names: dict[str, None]


class _Linker:
    """What is the same for all kernels of a module: its functions' addresses, its global and constant memory."""

    def __init__(self, module: ModuleTree) -> None:
        self._module = module
        self._references: dict[str, References] = {
            name: references(function) for name, function in module.functions.items() if function.name == name
        }
        addresses = {
            name: FunctionAddress(name, _FIRST_FUNCTION + number * _FUNCTION_STEP)
            for number, name in enumerate(self._references)
        }
        #: Also those of aliases, which have the address and the name of the function that they stand for.
        self._functions = {name: addresses[function.name] for name, function in module.functions.items()}
        self._layouts = {"global": Layout("global"), "const": Layout("const")}
        self._variables: dict[str, Location] = {}
        for variable in module.variables.values():
            if variable.space in self._layouts and variable.linkage != "extern":
                self._variables[variable.name] = self._layouts[variable.space].place(variable)
        for found in self._references.values():
            for variable in found.variables:
                if variable.space in self._layouts:
                    self._layouts[variable.space].place(variable)
        self._pointed = self._pointed_functions()
        self._instruction_count = 0

    def program(self) -> Program:
        module = self._module
        kernels = {
            name: self._kernel(function)
            for name, function in module.functions.items()
            if function.is_entry and function.body is not None
        }
        # The bodies are flat code now: what is left of the tree are declarations.
        functions = {name: function.declaration for name, function in module.functions.items()}
        declared = replace(module, functions=functions)
        return Program(declared, kernels, self._segment("global"), self._segment("const"))

    def _pointed_functions(self) -> set[str]:
        """The functions whose addresses are in variables: a call through a register may mean them."""
        locations = [each for layout in self._layouts.values() for each in layout.locations]
        symbols = {relocation.symbol for location in locations for relocation in location.variable.relocations}
        return {self._functions[each].name for each in symbols & self._functions.keys()}

    def _reached(self, kernel: Function) -> _Reached:
        calls: dict[str, set[str]] = {}
        found: dict[str, None] = {kernel.name: None}
        pending = collections.deque([kernel.name, *sorted(self._pointed)])
        while pending:
            name = pending.popleft()
            if name not in calls:
                found[name] = None
                called = [
                    self._functions[each].name for each in self._references[name].names if each in self._functions
                ]
                calls[name] = set(called)
                pending.extend(called)
        for name in found:
            if self._references[name].calls_pointers:
                calls[name].add(_POINTER)
        calls[_POINTER] = set(found) - {kernel.name}
        names = dict.fromkeys(each for name in found for each in self._references[name].names)
        return _Reached([self._module.functions[name] for name in found], in_cycles(calls), names)

    def _kernel(self, kernel: Function) -> Code:
        reached = self._reached(kernel)
        spaces = ("shared", "local", "param::entry", "param::func")
        layouts = self._layouts | {space: Layout(space) for space in spaces}
        places = Places(dict(self._variables), self._functions, self._module.functions, layouts)
        dynamic_offset = self._place_shared(reached, places)
        routines = {
            each.name: self._routine(each, places, each.name in reached.recursive) for each in reached.functions
        }
        return Code(
            routines[kernel.name],
            routines,
            tuple(places.instructions),
            tuple(places.slots),
            layouts["shared"].size,
            dynamic_offset,
            layouts["param::entry"].size,
            layouts["param::func"].size,
            layouts["local"].size,
            tuple(layouts["shared"].locations),
            tuple(layouts["local"].locations),
        )

    def _place_shared(self, reached: _Reached, places: Places) -> int:
        """Place the shared variables that the kernel uses; return where external arrays start."""
        shared = places.layouts["shared"]
        named = (self._module.variables.get(name) for name in reached.names)
        module_variables = [each for each in named if each is not None and each.space == "shared"]
        inner = [
            variable
            for function in reached.functions
            for variable in self._references[function.name].variables
            if variable.space == "shared"
        ]
        everything = [*module_variables, *inner]
        external = [each for each in everything if each.linkage == "extern"]
        for variable in everything:
            if variable.linkage != "extern":
                shared.place(variable)
        dynamic_offset = aligned(shared.size, max((each.alignment for each in external), default=1))
        for variable in external:
            shared.place_at(variable, dynamic_offset)
        places.variables.update({each.name: shared.place(each) for each in module_variables})
        return dynamic_offset

    def _routine(self, function: Function, places: Places, is_recursive: bool) -> Routine:
        slots, start = len(places.slots), len(places.instructions)
        local, param = places.layouts["local"], places.layouts["param::func"]
        local_start, param_start = local.size, param.size
        resolver = Resolver(function, places)
        resolver.body()
        self._instruction_count += len(places.instructions) - start
        if self._instruction_count > _MOST_INSTRUCTIONS:
            raise PtxError(f"the kernels have more than {_MOST_INSTRUCTIONS} instructions", function.line, 1)
        has_body = function.body is not None
        return Routine(
            function.declaration,
            self._functions[function.name].address,
            start if has_body else -1,
            len(places.instructions) if has_body else -1,
            resolver.parameters,
            resolver.returns,
            range(slots, len(places.slots)),
            range(local_start, local.size),
            range(param_start, param.size),
            is_recursive,
        )

    def _segment(self, space: str) -> Segment:
        layout = self._layouts[space]
        contents = bytearray()
        patches: list[Patch] = []
        for location in layout.locations:
            variable = location.variable
            if variable.initial is not None:
                contents.extend(bytes(location.offset - len(contents)))
                contents.extend(variable.initial)
            patches.extend(self._patch(variable, location.offset, each) for each in variable.relocations)
        return Segment(space, layout.size, layout.alignment, bytes(contents), tuple(layout.locations), tuple(patches))

    def _patch(self, variable: Variable, start: int, relocation: Relocation) -> Patch:
        target = self._variables.get(relocation.symbol) or self._functions.get(relocation.symbol)
        if target is None:
            message = f"the initial value of '{variable.name}' has the address of '{relocation.symbol}'"
            raise PtxError(
                f"{message}, which is no variable in '.global' or '.const' and no function", variable.line, 1
            )
        return Patch(
            start + relocation.offset,
            relocation.size,
            target,
            relocation.addend,
            relocation.generic,
            relocation.shift,
        )
