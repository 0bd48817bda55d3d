"""Calls of functions that the CUDA system has and the module only declares: `vprintf` and `__assertfail`.

In: a call's arguments, as places in the parameter frame. `vprintf` adds to what the launch has printed and returns how
many arguments its format takes; `__assertfail` is the finding `trap`, with what it is given. Source: PTX Writer's Guide
to Interoperability, "System Calls".
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxsim.instructions.printf_text import argument_count, printed_text
from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.site import Site
from ptxsim.memory.byte_array import ALLOCATED, READY
from ptxsim.memory.windows import BASES, LOCAL_START, SPACE_OF_WINDOW, WINDOW_BITS
from ptxsim.parsing.syntax import Arguments, FunctionAddress, Location

_LONGEST_TEXT = 1000
_NO_FORMAT = 0xFFFFFFFF


def system_call(site: Site) -> Step | None:
    """The step of a call of a system function, None where it is not a known one.

    Raises:
        PtxError: the function is declared otherwise than the system has it.
    """
    returns, callee, arguments = site.instruction.operands[:3]
    known = _CALLS.get(callee.name) if isinstance(callee, FunctionAddress) else None
    if known is None:
        return None
    make, sizes, result_sizes = known
    return make(site, _places(site, arguments, sizes), _places(site, returns, result_sizes))


def _places(site: Site, operand: object, sizes: tuple[int, ...]) -> list[Location]:
    """The places of arguments or results, which have these sizes in bytes."""
    items = operand.items if isinstance(operand, Arguments) else ()
    places = [each for each in items if isinstance(each, Location)]
    if tuple(each.variable.size for each in places) != sizes or len(places) != len(items):
        site.fail("the system has this function with other parameters, in '.param'")
    return places


def _print(site: Site, arguments: list[Location], results: list[Location]) -> Step:
    (form, buffer), result = arguments, results[0]
    site.targets.add(site.index + 1)

    def step(batch: Batch) -> None:
        addresses = _words(batch, form)
        counts = np.full(len(addresses), _NO_FORMAT, np.uint32)
        threads, buffers = batch.threads[batch.mask].tolist(), _words(batch, buffer).tolist()
        for number, address in enumerate(addresses.tolist()):
            text = _text(batch, address)
            if text is not None:
                counts[number] = argument_count(text)
                read = partial(_buffer, batch, threads[number], buffers[number])
                batch.launch.printed.append(printed_text(text, read, partial(_text, batch)))
        places = _frames(batch)[:, None] + np.arange(result.offset, result.offset + counts.itemsize)
        batch.cta.parameters.data[places] = counts.view(np.uint8).reshape(len(counts), -1)
        batch.cta.parameters.state[places] = READY

    return step


def _buffer(batch: Batch, thread: int, address: int, offset: int, size: int) -> bytes:
    """Bytes of the buffer at a generic address, for a thread; zeros, and a finding, where there is no memory."""
    space = SPACE_OF_WINDOW.get(address >> WINDOW_BITS, "global")
    start, cta, launch = address - BASES[space] + offset, batch.cta, batch.launch
    memories = {"global": launch.memory, "const": launch.constants, "shared": cta.shared, "local": cta.local}
    memory = memories.get(space)
    if memory is not None:
        first = start - memory.base + (thread * launch.stride_of["local"] if space == "local" else 0)
        if 0 <= first <= memory.state.size - size and (memory.state[first : first + size] & ALLOCATED).all():
            return memory.data[first : first + size].tobytes()
    lanes = batch.mask & (batch.threads == thread)
    message = f"printf reads {size} bytes of an argument outside of what is allocated"
    batch.report("out-of-bounds", message, lanes, start, space)
    return bytes(size)


def _fail(site: Site, arguments: list[Location], results: list[Location]) -> Step:
    site.falls_through = site.instruction.guard is not None

    def step(batch: Batch) -> bool:
        given = np.stack([_words(batch, place) for place in arguments[:4]], axis=1)
        for row in np.unique(given, axis=0):
            condition, file, line, function = row.tolist()
            where = f"{_text(batch, file)}:{line}, in {_text(batch, function)}"
            lanes = batch.spread((given == row).all(axis=1))
            batch.report("trap", f"the assertion '{_text(batch, condition)}' does not hold: {where}", lanes)
        batch.cta.exit(batch)
        return True

    return step


def _frames(batch: Batch) -> np.ndarray:
    """The start of the parameter frame of each active lane: [k]."""
    return batch.threads[batch.mask] * batch.launch.stride_of["param::func"] + LOCAL_START


def _words(batch: Batch, place: Location) -> np.ndarray:
    """The number at a place of each active lane's parameter frame: [k]."""
    places = _frames(batch)[:, None] + np.arange(place.offset, place.offset + place.variable.size)
    return batch.cta.parameters.data[places].view(f"u{place.variable.size}")[:, 0].astype(np.uint64)


def _text(batch: Batch, address: int) -> str | None:
    """The text at a generic address of global or constant memory, up to its zero; None where there is none."""
    space = SPACE_OF_WINDOW.get(address >> WINDOW_BITS, "global")
    if space not in ("global", "const"):
        return None
    memory = batch.launch.memory if space == "global" else batch.launch.constants
    start = address - BASES[space] - memory.base
    if not 0 <= start < memory.state.size or not memory.state[start] & ALLOCATED:
        return None
    contents, zero, _ = memory.data[start : start + _LONGEST_TEXT].tobytes().partition(b"\0")
    return contents.decode("utf-8", "replace") + ("" if zero else "…")


#: Function → how its call is made, and the sizes of its parameters and results in bytes.
_CALLS: dict[
    str,
    tuple[Callable[[Site, list[Location], list[Location]], Step], tuple[int, ...], tuple[int, ...]],
] = {
    "vprintf": (_print, (8, 8), (4,)),
    "__assertfail": (_fail, (8, 8, 4, 8, 8), ()),
}
