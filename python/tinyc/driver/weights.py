"""Inputs that are declared weights when a program is compiled: the attribute `tiny.weight` of the arguments.

In: a program and the names that the user gives. Out: the program with the attribute, before any pass. The arrays are
set on the model, which has memory for them.
"""

from collections.abc import Iterable, Sequence

from tinyc.analysis.graphs import WEIGHT, input_names, main_function, weight_flags
from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.exec.to_program import program_of
from tinyc.dialects.region.to_exec.const_pool import require_static_weights
from tinyc.mlir import func, ir


def declare_weights(module: ir.Module, names: Sequence[str]) -> ir.Module:
    """The module, with the inputs of these names declared as weights.

    Raises:
        TinycError: `InputMismatch`: there is no such input, or it is no weight in a program that is lowered already;
            `InvalidExtent`: the extents of a weight are no numbers.
    """
    if exec_functions(module):
        _require_lowered(program_of(module).weights, names)
        return module
    function = main_function(module)
    known = input_names(function)
    _require_inputs(known, names)
    flags = [flag or name in names for name, flag in zip(known, weight_flags(function), strict=True)]
    if any(flags):
        with module.context:
            _set_flags(function, flags)
            require_static_weights(function)
    return module


def _require_inputs(known: Iterable[str], names: Iterable[str]) -> None:
    unknown = [name for name in names if name not in known]
    errors = [
        TinycError("InputMismatch", f"weights: the program has no input '{name}'{suggest(name, known)}", Where(name))
        for name in unknown
    ]
    if errors:
        raise TinycError.several(errors)


def _require_lowered(known: tuple[str, ...], names: Sequence[str]) -> None:
    """Check that a program whose buffers are placed has these weights."""
    if any(name not in known for name in names):
        message = "the program was lowered already, where its weights are fixed; declare them at an earlier layer"
        listed = ", ".join(map(repr, known)) or "none"
        raise TinycError("InputMismatch", f"weights: {message} (it has {listed})")


def _set_flags(function: func.FuncOp, flags: list[bool]) -> None:
    """Write the argument attributes with `tiny.weight` where a flag is set."""
    entries = function.attributes.get("arg_attrs", None)
    given: Iterable[ir.Attribute] = entries if isinstance(entries, ir.ArrayAttr) else [ir.DictAttr.get({})] * len(flags)
    written: list[ir.Attribute] = []
    for entry, is_weight in zip(given, flags, strict=True):
        held = {each.name: each.attr for each in entry} if isinstance(entry, ir.DictAttr) else {}
        written.append(ir.DictAttr.get({**held, WEIGHT: ir.UnitAttr.get()} if is_weight else held))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(written)
