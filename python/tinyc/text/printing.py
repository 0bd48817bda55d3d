"""IR as text for people: values called by the names of their locations, long types by aliases.

Any MLIR tool reads it back: an alias is MLIR's own, defined in front of its use. `located` is the text for machines,
with every location and nothing else added; keys of regions and the merging of equal kernels rest on MLIR's own text.

    !MxK_f16 = tensor<?x?xf16, #tiny.dims<["M", "K"]>>
    …
    %X1 = "tiny.reshape"(%X0) : (!MxK_f16) -> !Mx1xK_f16
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from tinyc.mlir import ir

#: A type that is written in more characters than this, and more than once, gets an alias.
LONG = 24
#: An alias that would be longer than this is called after the kind of its type.
_LONGEST_NAME = 40

#: MLIR's parser takes the location behind a bare barrier for one of the op's attributes.
_BARRIER = re.compile(r"^(\s*)nvvm\.barrier loc\(", re.MULTILINE)
_GENERIC_BARRIER = r'\1"nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> () loc('


def print_ir(
    op: ir.Module | ir.Operation | ir.OpView, debug_info: bool = False, stock: bool = False, verified: bool = True
) -> str:
    """The text of an op, with locations if `debug_info`; as `mlir-opt` prints it if `stock`.

    The printer verifies the op once more unless it is `verified`.
    """
    printed = op.operation.get_asm(
        enable_debug_info=debug_info, use_name_loc_as_prefix=not stock, assume_verified=verified
    )
    printed = _BARRIER.sub(_GENERIC_BARRIER, printed)
    return printed if stock else with_aliases(printed)


def located(op: ir.Module | ir.Operation | ir.OpView, verified: bool = True) -> str:
    """The text of an op as MLIR prints it, with the locations of all ops, such that `parse` reads it."""
    return print_ir(op, debug_info=True, stock=True, verified=verified)


# --- aliases ----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\{-#.*|(?<![\w.$#!%@])(?:(?:tensor|memref|vector)|![A-Za-z_]\w*\.\w+)<', re.S)
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*"|->|>=|[<>]')
#: The aliases that MLIR prints in front of a module: attributes, and the types of dialects that ask for it.
_HEADER = re.compile(r"(?:[#!][\w$.]+ = [^\n]*\n)*")
_DEFINED = re.compile(r"^!([\w$.]+) =", re.MULTILINE)


def with_aliases(printed: str) -> str:
    """The text of a module with an alias for each long type that it writes more than once."""
    header = _HEADER.match(printed)
    start = header.end() if header is not None else 0
    body = printed[start:]
    counts: Counter[str] = Counter()
    _replace_types(body, lambda text: counts.update((text,)) or text)
    taken = set(_DEFINED.findall(printed))
    names: dict[str, str] = {}
    definitions: list[str] = []

    def alias(text: str) -> str:
        """What stands for a type, in which shorter ones have their aliases already."""
        if text not in names:
            original = _expanded(text, names)
            if len(original) <= LONG or counts[original] < 2:
                return text
            names[text] = _free(_name(original), taken)
            definitions.append(f"!{names[text]} = {text}\n")
        return f"!{names[text]}"

    body = _replace_types(body, alias)
    return printed[:start] + "".join(definitions) + body


def _expanded(text: str, names: dict[str, str]) -> str:
    """A type without the aliases in it."""
    for original, name in reversed(names.items()):
        text = re.sub(rf"!{re.escape(name)}(?![\w$.])", lambda _, original=original: original, text)
    return text


def _replace_types(text: str, replace: Callable[[str], str]) -> str:
    """`text` with `replace` applied to each of its types in angle brackets, inner ones first."""
    parts: list[str] = []
    position = 0
    for start, opened, end in _types(text):
        inner = _replace_types(text[opened : end - 1], replace)
        parts += [text[position:start], replace(f"{text[start:opened]}{inner}>")]
        position = end
    return "".join((*parts, text[position:]))


def _types(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each outermost type begins, where its first bracket has opened, and where it ends."""
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        position = match.end()
        if match.group()[-1] == "<" and match.group()[0] != '"' and not match.group().startswith("{-#"):
            position = _closed(text, match.end())
            yield match.start(), match.end(), position


def _closed(text: str, position: int) -> int:
    """Where the angle bracket that has opened before `position` is closed."""
    depth = 1
    while depth:
        match = _BRACKET.search(text, position)
        assert match is not None, "MLIR prints brackets in pairs"
        depth += {"<": 1, ">": -1}.get(match.group(), 0)
        position = match.end()
    return position


def _free(name: str, taken: set[str]) -> str:
    """`name`, with a number behind it if another alias is called so; it is taken from then on."""
    free, number = name, 0
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


_TENSOR = re.compile(r"(?:tensor|memref|vector)<((?:[\d?]+x)*)([\w]+)(?:, (.*))?>\Z", re.S)
_DIMS = re.compile(r"#tiny\.dims<\[(.*)\]>")


def _name(text: str) -> str:
    """What to call a type: its extents and its element type, and which dialect type holds them."""
    tensor = _TENSOR.match(text)
    kind = re.match(r"!?(?:\w+\.)?(\w+)", text)
    prefix = kind[1] if kind is not None else "type"
    if tensor is not None:
        dims = _DIMS.fullmatch(tensor[3] or "")
        extents = (
            re.findall(r'"([^"]*)"|(\d+)', dims[1]) if dims else [(each, "") for each in tensor[1].split("x")[:-1]]
        )
        words = ["x".join(_word(first or second) for first, second in extents), tensor[2]]
        if tensor[3] and not dims:
            words.append(_word(re.sub(r"#\w+\.\w+<(.*)>", r"\1", tensor[3])))
        name = "_".join(word for word in words if word)
    else:
        held = next(_types(text[text.index("<") + 1 :]), None)
        inside = text[text.index("<") + 1 :]
        name = f"{_name(inside[held[0] : held[2]])}_{prefix}" if held is not None else f"{prefix}_{_word(inside)}"
    if len(name) > _LONGEST_NAME:
        return prefix
    return name if name[:1].isalpha() else f"{prefix[0]}{name}"


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text.replace("?", "")).strip("_")
