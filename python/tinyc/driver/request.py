"""What a user asks of a compilation, checked and in one form. No MLIR here.

In: the options of `tinyc.compile`. Out: a `CompileRequest`: the same for what means the same, so that it can be part of
a key.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinyc.diagnostics import TinycError, either
from tinyc.driver.listings import LISTINGS
from tinyc.expr.extents import natural

if TYPE_CHECKING:
    from tinyc.dialects.region.size_sets import SizeSet

Bind = Mapping[str, int]
#: Values of inputs that are fixed, by name.
Constants = Mapping[str, Any]


class CompileRequest(NamedTuple):
    """What is asked of a compilation beside its source.

    `options` are those of the passes for each architecture by its name, off a GPU for None; `weights` the inputs that
    are declared to be weights.
    """

    target: str
    options: Mapping[str | None, Mapping[str, str]]
    bind: Bind
    constants: Constants
    weights: tuple[str, ...]

    @property
    def has_key(self) -> bool:
        """Whether there is a text of all of it: not of a value that is no array of numbers."""
        return all(isinstance(each, np.ndarray) for each in self.constants.values())

    @property
    def text(self) -> str:
        """All of it, as a text that is another one for another request."""
        options = {arch or "": dict(each) for arch, each in self.options.items()}
        bind = sorted((str(name), size) for name, size in self.bind.items())
        constants = {name: _told(value) for name, value in self.constants.items()}
        return json.dumps([self.target, options, bind, constants, sorted(self.weights)], sort_keys=True)


def request_for(
    target: str = "cpu",
    arch: str | Sequence[str] | None = None,
    bind: Bind | None = None,
    plan: object = None,
    fusion: object = None,
    sizes: Sequence[Mapping[str, int | str]] = (),
    weights: object = None,
    constants: Constants | None = None,
    line_info: object = None,
) -> CompileRequest:
    """The request of the options of `tinyc.compile`.

    Raises:
        TinycError: what is wrong with one of them.
    """
    own, edges = _split(plan)
    asked = {**_fusion_options(fusion, edges), **_sizes_option(sizes)}
    options = {each: {**pass_options(target, each, own, line_info), **asked} for each in architectures_of(target, arch)}
    return CompileRequest(
        target, options, checked_bind(bind), checked_constants(constants), tuple(weight_names(weights))
    )


def _told(array: np.ndarray) -> str:
    """The value of an input, as a text."""
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


def architectures_of(target: str, arch: str | Sequence[str] | None) -> tuple[str | None, ...]:
    """The names of the architectures that are asked for, by age; a target "cuda" takes several. None is the default.

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    if arch is None or target not in ("sim", "cuda"):
        return (arch if arch is None or isinstance(arch, str) else ",".join(map(str, arch)),)
    from tinyc.target import targets_of  # with the table of devices, which a CPU has no use of

    names = tuple(each.name for each in targets_of(arch))
    if not names:
        raise TinycError("UnsupportedTarget", "'arch' names no architecture; give one, or leave it out")
    if len(names) > 1 and target == "sim":
        message = f"'arch' names {' and '.join(names)}, and target 'sim' runs one; give one, or compile for 'cuda'"
        raise TinycError("UnsupportedTarget", message)
    return names


def pass_options(target: str, arch: str | None = None, plan: object = None, line_info: object = None) -> dict[str, str]:
    """The options of the passes, as texts, that the user has given for a target.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such target or architecture, or the target takes no such option;
            what is wrong with the plan.
    """
    known = either(map(repr, LISTINGS))
    if target not in LISTINGS:
        raise TinycError("UnsupportedTarget", f"'target' is {target!r}, no target; choose {known}")
    if target in ("sim", "cuda"):
        return {**_arch_option(arch), **_plan_options(plan)}
    refused = {"arch": arch, "line_info": line_info, **({} if target == "cpu" else {"plan": plan})}
    for name, value in refused.items():
        if value is not None:
            raise TinycError("UnsupportedTarget", f"target '{target}' takes no '{name}'; leave it out")
    return _plan_options(plan)


def _arch_option(arch: str | None) -> dict[str, str]:
    if arch is None:
        return {}
    from tinyc.target import target_of  # as in `_split`

    return {"arch": target_of(arch).name}


def _plan_options(plan: object) -> dict[str, str]:
    if plan is None:
        return {}
    from tinyc.plan.json_text import plan_to_json  # as in `_split`
    from tinyc.plan.source import load_plan

    loaded = load_plan(plan)
    return {} if loaded is None else {"plan": plan_to_json(loaded)}


def _split(plan: object) -> tuple[object, Mapping[str, Any]]:
    """A plan, and the edges that it asks for, as `split_plan` tells them."""
    if plan is None:
        return None, {}
    from tinyc.plan.source import split_plan  # plans and their texts take a tenth of a start, and few programs have one

    return split_plan(plan)


def _fusion_options(fusion: object, edges: Mapping[str, Any]) -> dict[str, str]:
    if fusion is None and not edges:
        return {}
    from tinyc.fusion.request import request_of  # as in `_split`

    return request_of(fusion).with_edges(edges).options()


def _sizes_option(sizes: object) -> dict[str, str]:
    sets = checked_sizes(sizes)
    if not sets:
        return {}
    from tinyc.dialects.region.size_sets import sizes_text

    return {"sizes": sizes_text(sets)}


def checked_bind(bind: Bind | None) -> dict[str, int]:
    """`bind` as a dictionary of non-negative ints.

    Raises:
        TinycError: `InvalidExtent`.
    """
    if bind is None:
        return {}
    if not isinstance(bind, Mapping):
        raise TinycError(
            "InvalidExtent",
            f"bind is a {type(bind).__name__}; give a mapping from symbols to sizes, such as {{'M': 128}}",
        )
    return {name: _bound_extent(name, value) for name, value in bind.items()}


def checked_constants(constants: object) -> dict[str, Any]:
    """Values of inputs by name.

    Raises:
        TinycError: `InputMismatch`.
    """
    if constants is None:
        return {}
    if not isinstance(constants, Mapping) or not all(isinstance(name, str) for name in constants):
        message = "'constants' is no mapping from names of inputs to their values; give {'axes': [1]}"
        raise TinycError("InputMismatch", message)
    return {name: _own_value(value) for name, value in constants.items()}


def _own_value(value: object) -> object:
    """A value of an input as an array that nobody else has; what is none is left to whoever knows the input."""
    try:
        array = np.array(value)
    except (TypeError, ValueError):
        return value
    return value if array.dtype.hasobject else array


def checked_sizes(sizes: object) -> "list[SizeSet]":
    """Sets of sizes as data, without those that are empty.

    Raises:
        TinycError: `InvalidOption`, `InvalidExtent`.
    """
    if not isinstance(sizes, list | tuple) or not all(isinstance(each, Mapping) for each in sizes):
        message = f"'sizes' is {sizes!r}; give a list of sets of sizes, [{{'M': 1}}, {{'M': '<=64', 'N': 128}}]"
        raise TinycError("InvalidOption", message)
    if not sizes:
        return []
    from tinyc.dialects.region.size_sets import size_set  # as in `_split`

    return [found for found in map(size_set, sizes) if found.symbols]


def weight_names(weights: object) -> list[str]:
    """The names of the inputs that are declared to be weights: a list, or the keys of a mapping.

    Raises:
        TinycError: `InputMismatch`.
    """
    if weights is None:
        return []
    names = list(weights) if isinstance(weights, Iterable) and not isinstance(weights, str) else None
    if names is None or not all(isinstance(name, str) for name in names):
        message = f"'weights' is a {type(weights).__name__}; give a list of names, or a mapping from names to arrays"
        raise TinycError("InputMismatch", message)
    return names


def _bound_extent(name: str, value: Any) -> int:
    extent = natural(value)
    if extent is None:
        raise TinycError("InvalidExtent", f"bind {name} = {value!r}: an extent is an integer in 0 … 2^63 - 1")
    return extent
