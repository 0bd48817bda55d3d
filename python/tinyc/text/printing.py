"""IR as text for people: values called by the names of their locations, long types by aliases.

Any MLIR tool reads it back: an alias is MLIR's own, defined in front of its use. `located` is the text for machines,
with every location and nothing else added. Keys of regions hash MLIR's own text; equal kernels are merged by structure.

    !MxK_f16 = tensor<?x?xf16, #tiny.dims<["M", "K"]>>
    …
    %X1 = "tiny.reshape"(%X0) : (!MxK_f16) -> !Mx1xK_f16
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tinyc.mlir import ir
from tinyc.mlir.names import DistinctNames
from tinyc.vocabulary.elements import with_resource_section

#: A type that is written in more characters than this, and more than once, gets an alias.
LONG = 24
#: A text for people leaves out the elements of a constant that take more characters.
READABLE_RESOURCE = 2**14
#: An alias that would be longer than this is called after the kind of its type.
_LONGEST_NAME = 40

#: MLIR's parser takes the location behind a bare barrier for one of the op's attributes.
_BARRIER = re.compile(r"^(\s*)nvvm\.barrier loc\(", re.MULTILINE)
_GENERIC_BARRIER = r'\1"nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> () loc('


@dataclass(frozen=True)
class PrintStyle:
    """How IR is written: as `mlir-opt` does it if `stock`, and what its flags of these names ask for.

    `elide_elements` and `elide_resources` are how many elements of an attribute, and characters of a resource, are
    written before a placeholder stands for all of them.
    """

    debug_info: bool = False
    stock: bool = False
    generic: bool = False
    local_scope: bool = False
    elide_elements: int | None = None
    elide_resources: int | None = None

    def text_of(self, op: ir.Module | ir.Operation | ir.OpView, verified: bool = True) -> str:
        """The text of an op; the printer verifies it once more unless it is `verified`."""
        printed = op.operation.get_asm(
            large_elements_limit=self.elide_elements,
            large_resource_limit=self.elide_resources,
            enable_debug_info=self.debug_info,
            print_generic_op_form=self.generic,
            use_local_scope=self.local_scope,
            use_name_loc_as_prefix=not self.stock,
            assume_verified=verified,
        )
        printed = _BARRIER.sub(_GENERIC_BARRIER, printed)
        limit = self.elide_elements if self.elide_resources is None else self.elide_resources
        shown = printed if self.stock or self.local_scope else with_aliases(printed)
        return with_resource_section(shown, limit)


def print_ir(
    op: ir.Module | ir.Operation | ir.OpView,
    debug_info: bool = False,
    stock: bool = False,
    verified: bool = True,
    elide_resources: int | None = None,
) -> str:
    """The text of an op, with locations if `debug_info`; as `mlir-opt` prints it if `stock`.

    A constant whose elements take more than `elide_resources` characters has them left out, and cannot be read back.
    """
    return PrintStyle(debug_info, stock, elide_resources=elide_resources).text_of(op, verified)


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
    aliases = DistinctNames(_DEFINED.findall(printed))
    names: dict[str, str] = {}
    definitions: list[str] = []

    def alias(text: str) -> str:
        """The alias of a type, in which shorter ones have theirs already, or its text where it needs none."""
        if text not in names:
            original = _expanded(text, names)
            if len(original) <= LONG or counts[original] < 2:
                return text
            names[text] = aliases.new(_type_alias(original))
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
            depth = 1
            while depth:
                bracket = _BRACKET.search(text, position)
                assert bracket is not None, "MLIR prints brackets in pairs"
                depth += {"<": 1, ">": -1}.get(bracket.group(), 0)
                position = bracket.end()
            yield match.start(), match.end(), position


_TENSOR = re.compile(r"(?:tensor|memref|vector)<((?:[\d?]+x)*)([\w]+)(?:, (.*))?>\Z", re.S)
_DIMS = re.compile(r"#tiny\.dims<\[(.*)\]>")


def _type_alias(text: str) -> str:
    """The alias of a type: `MxK_f16` of a tensor, `MxK_f16_memref` of a dialect's type that holds one."""
    named = re.match(r"!?(?:\w+\.)?(\w+)", text)
    kind = named[1] if named is not None else "type"
    inside = text.partition("<")[2]
    if (tensor := _TENSOR.match(text)) is not None:
        alias = _tensor_alias(*tensor.groups(""))
    elif (held := next(_types(inside), None)) is not None:
        alias = f"{_type_alias(inside[held[0] : held[2]])}_{kind}"
    else:
        alias = f"{kind}_{_identifier(inside)}"
    if len(alias) > _LONGEST_NAME:
        return kind
    return alias if alias[:1].isalpha() else f"{kind[0]}{alias}"


def _tensor_alias(shape: str, element: str, encoding: str) -> str:
    """The extents of a tensor, its element type, and what else its type says: a layout, a memory space.

    The extents of an encoding `#tiny.dims` stand in place of the shape's, where a symbol is a `?`.
    """
    dims = _DIMS.fullmatch(encoding)
    if dims is not None:
        extents = [symbolic or number for symbolic, number in re.findall(r'"([^"]*)"|(\d+)', dims[1])]
        rest = ""
    else:
        extents = shape.split("x")[:-1]
        rest = re.sub(r"#\w+\.\w+<(.*)>", r"\1", encoding)
    words = ("x".join(map(_identifier, extents)), element, _identifier(rest))
    return "_".join(word for word in words if word)


def _identifier(text: str) -> str:
    """`text` in letters, digits and underscores, without the question marks of extents."""
    return re.sub(r"\W+", "_", text.replace("?", "")).strip("_")
