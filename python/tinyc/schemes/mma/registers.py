"""The registers of a thread of scheme `mma`: how many its kernel takes, and what room they leave for the epilogue.

In: a tiling, a product, its loads. Out: an estimate, for `ptxas` decides: on sm_80 within 10 percent, or 8, of what it
takes for whole tiles; where elements pass through registers it is meant to be no less, so that nothing is spilt.
"""

from collections.abc import Sequence

from tinyc.analysis.strided_access import StridedAccess
from tinyc.expr import extents
from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import WIDEST_COPY_BYTES, Load
from tinyc.schemes.mma.shared_memory import held_elements, staged_residuals
from tinyc.schemes.mma.stores import store_of
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.target.target import Target

#: Registers besides accumulators and fragments: pointers, counters, the addresses of what is staged. Of threads that
#: multiply by wgmma: those that do nothing else, those that copy as well, and those whose loads are through registers.
_BASE_REGISTERS = {"mma_sync": 32, "wgmma": 26, "wgmma_and_copies": 44, "wgmma_through_registers": 70}
#: Of warps, those for addresses of fragments: one for two accumulators, at most so many.
_MOST_FOR_ADDRESSES = 8
#: Fragments of A that are made in registers beside those of a stage: the next one's first, and elements on their way.
_STEPS_AHEAD = 2
#: Quarters of a register that an element takes besides itself on its way through registers: where tiles are whole, and
#: where they reach beyond the last line.
_MORE_QUARTERS = {"along k": (0, 1), "across k": (0, 3), "computed": (2, 6)}
#: What each full-size operand of the epilogue, and its ops, hold at a time beside a fragment of accumulators.
_EPILOGUE_REGISTERS = 8
#: What each of these that threads read takes while factors are made in registers: its pointer, its pitches.
_KEPT_FOR_EPILOGUE = 16
#: Registers that the epilogue has besides accumulators and what threads read beside these: rows, columns, pointers; and
#: for extents that a run tells.
_FINISHING_REGISTERS, _EXTENT_REGISTERS = 40, 32
#: Registers of addresses for each pair that is read at once, and for each two elements that are read apart.
_ADDRESS_OF_PAIR, _ADDRESSES_APART = 1, 3
#: Accumulators of a thread in a piece of 16 x 8, which are two pairs, and pieces that are finished together.
_PIECE_ACCUMULATORS, _PIECES_TOGETHER = 4, 2


def registers_per_thread(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load]) -> int:
    """The registers of a thread that multiplies: accumulators, and beside them what the loop holds, or the epilogue.

    The loop holds fragments of both operands and what is on its way to shared memory.
    """
    (rows, columns), unit = tiling.unit_tile, case.unit
    through = [side for side, load in enumerate(loads) if load.kind == "registers"]
    on_their_way = sum(_registers_of_elements(side, tiling, case) for side in through)
    on_their_way += registers_of_copies(tiling, case, loads)
    base = _BASE_REGISTERS["mma_sync"] + min(_MOST_FOR_ADDRESSES, tiling.accumulators_per_thread // 2)
    if loads and all(load.is_read_by_words(side, unit) for side, load in enumerate(loads)):
        base += _MOST_FOR_ADDRESSES  # of A's words as well as of B's
    if unit.is_wgmma and tiling.is_persistent:
        base = _BASE_REGISTERS["wgmma"]
    elif unit.is_wgmma:
        base = _BASE_REGISTERS["wgmma_through_registers" if through else "wgmma_and_copies"]
    # Of 16 rows of A and 8 columns of B, and 32 bytes of k, a thread of a warp has 4 and 2 registers; of the next step
    # ptxas has about half of them at a time.
    fragments = 0 if unit.is_wgmma else 3 * (rows // 16 * 4 + columns // 8 * 2) // 2
    if any(load.source for load in loads):  # all steps of a stage are read until it has been multiplied
        pairs, apart = _read_by_threads(tiling, case, loads)
        fragments = rows // unit.rows * 4 * (tiling.tile[2] // unit.depth + _STEPS_AHEAD)
        fragments += _KEPT_FOR_EPILOGUE * (len(pairs) + apart)
    epilogue = _EPILOGUE_REGISTERS * (1 + case.full_inputs)
    # The fragments are not needed any more when the epilogue runs.
    return tiling.accumulators_per_thread + base + max(fragments + on_their_way, epilogue)


def registers_of_copies(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load]) -> int:
    """What `registers_per_thread` has for addresses of copies by cp.async, which ptxas spills where it must.

    Each copy of a warp has one. Where tiles reach beyond the last line, one of less than 16 bytes has two, of
    warpgroups or where extents are not known.
    """
    found = 0
    for side, load in enumerate(loads):
        if load.kind == "cp_async":
            is_apart = load.bytes < WIDEST_COPY_BYTES and _is_ragged(side, tiling, case)
            size = tiling.tile[side] * tiling.tile[2] * load.element(case.unit).size_bytes
            copies = size // load.bytes // tiling.threads
            each = 2 if is_apart and (case.unit.is_wgmma or not case.is_static) else 0 if case.unit.is_wgmma else 1
            found += copies * each
    return found


def _registers_of_elements(side: int, tiling: MmaTiling, case: MmaCase) -> int:
    """The registers of elements of a tile of A (0) or B (1) that pass through them.

    ptxas loads all before it stores the first: to a register each, and where extents are not known it has an address
    for each, too. What is computed is read from several places, and where tiles reach beyond the last line there are
    more addresses.
    """
    quarters = 4 if case.is_static else 8
    if case.unit.factor.size_bytes > 1 or not case.unit.is_wgmma:  # for wgmma four bytes come together
        operand = (case.product.lhs, case.product.rhs)[side]
        quarters += _MORE_QUARTERS[_way_of(operand.access, side)][_is_ragged(side, tiling, case)]
    return tiling.tile[side] * tiling.tile[2] // tiling.threads * quarters // 4


def _is_ragged(side: int, tiling: MmaTiling, case: MmaCase) -> bool:
    """Whether tiles of A (0) or B (1) reach beyond its last line, or may."""
    return extents.divide((case.product.m, case.product.n)[side], tiling.tile[side]) is None


def _way_of(access: StridedAccess | str, side: int) -> str:
    """How k lies in an operand of which threads load elements; where lines are in several runs, it is computed."""
    if isinstance(access, str) or len(access.rows) > 1 or len(access.columns) > 1:
        return "computed"
    return "across k" if access.contiguous == ("rows", "columns")[side] else "along k"


def register_limit(tiling: MmaTiling, target: Target) -> int:
    """The registers that a thread that multiplies may have."""
    return min(target.registers_per_thread, tiling.registers[1] if tiling.registers else target.registers_per_thread)


# --- the epilogue -----------------------------------------------------------------------------------------------------


def pieces_at_a_time(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load] = (), guarded: bool = True) -> int:
    """How many pieces of 16 x 8 accumulators are finished before the warp waits; 0: all, for what they read has room.

    Of several tensors that are as large as the output, ptxas reads all elements before it finishes the first
    accumulator, each to registers of its own; of one it reads them as registers become free, and what is brought to
    shared memory takes none.
    """
    each, limit = _registers_of_piece(tiling, case, loads, guarded), register_limit(tiling, case.target)
    if not tiling.registers:
        limit = min(limit, case.target.registers_per_cta // tiling.threads)
    room = limit - tiling.accumulators_per_thread - _FINISHING_REGISTERS - (0 if case.is_static else _EXTENT_REGISTERS)
    if not each or each * tiling.accumulators_per_thread <= room * _PIECE_ACCUMULATORS:
        return 0
    return max(1, room // (each * _PIECES_TOGETHER)) * _PIECES_TOGETHER


def _registers_of_piece(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load], guarded: bool) -> int:
    """The registers of what threads read together for a piece, and of where it is: pairs where these are neighbours."""
    pairs, apart = _read_by_threads(tiling, case, loads, guarded)
    if len(pairs) + apart < 2:
        return 0
    of_pairs = sum(max(1, each.element.size_bytes // 2) + _ADDRESS_OF_PAIR for each in pairs)
    return _PIECE_ACCUMULATORS // 2 * (of_pairs + (2 + _ADDRESSES_APART) * apart)


def _read_by_threads(
    tiling: MmaTiling, case: MmaCase, loads: Sequence[Load], guarded: bool = True
) -> tuple[list[StridedAccess], int]:
    """Of what is as large as the output and not in shared memory: what is read in pairs, and how many others."""
    residuals, held = case.product.residuals, held_elements(loads, case.unit)
    staged = staged_residuals(tiling, residuals, case.product.stored, held, guarded)
    read = [each for number, each in enumerate(residuals) if number not in staged]
    pairs = [each for each in read if store_of(each, False, guarded, 2 * each.element.size_bytes).width > 1]
    return pairs, case.full_inputs - len(staged) - len(pairs)
