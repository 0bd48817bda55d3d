"""Names of values, which MLIR's parser forgets: those that a text writes become name locations, which printing uses.

In: a text and the module that MLIR made of it. Out: the same module; where the text says ``%P = …`` the op has the
location ``"P"("file":line:column)``, and so have the block arguments that it names. A value that has a name location
keeps it. Names that MLIR makes up itself (``%0``, ``%arg1``, ``%c4_i32``) are none.
"""

import bisect
import re

from tinyc.mlir import ir

_MADE_UP = r"(?:\d+|arg\d+|c-?\d+\w*|cst(?:_\d+)?|true|false)(?![\w$.-])"
_TOKEN = re.compile(rf'//[^\n]*|"(?:[^"\\\n]|\\.)*"|%(?!{_MADE_UP})([A-Za-z_][\w$.-]*)')
#: What stands between the name of a first result and the op: how many results it is, further ones, `=`.
_DEFINITION = re.compile(r"(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=(?!=)\s*")
#: MLIR's ops that have a name for each of their results (`%low, %high`), which one location could not give them.
_NAMES_ITS_RESULTS = re.compile(r"arith\.\w+_extended\b")

_Place = tuple[int, int]


def name_values(module: ir.Module, text: str, filename: str, parsed_as: str) -> None:
    """Give the values of `module`, which `text` means, the names that they have there.

    `parsed_as` is what the parser has called the file in the locations, which is `filename` from now on.
    """
    places = _named_places(text)
    if not places and filename == parsed_as:
        return

    def located(location: ir.Location, has_name: bool) -> ir.Location | None:
        """A place in the text with the file's name, and with the name that stands there."""
        if not isinstance(location, ir.FileLineColLoc) or location.filename != parsed_as:
            return None
        place = location.start_line, location.start_col
        right = location if filename == parsed_as else ir.Location.file(filename, *place)
        return ir.Location.name(places[place], right) if has_name and place in places else right

    def visit(op: ir.Operation) -> ir.WalkResult:
        location = located(op.location, has_name=len(op.results) > 0)
        if location is not None:
            op.location = location
        for region in op.regions:
            for argument in (each for block in region.blocks for each in block.arguments):
                location = located(argument.location, has_name=True)
                if location is not None:
                    argument.set_location(location)
        return ir.WalkResult.ADVANCE

    with module.context:
        module.operation.walk(visit)


def _named_places(text: str) -> dict[_Place, str]:
    """The line and column of each name of a block argument, and of the op behind each name of a result."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(offset: int) -> _Place:
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    found: dict[_Place, str] = {}
    for match in _TOKEN.finditer(text):
        if match[1] is not None:
            found[place(match.start())] = match[1]  # a block argument, also in `iter_args(%sum = %zero)`
            definition = _DEFINITION.match(text, match.end())
            if definition is not None and _NAMES_ITS_RESULTS.match(text, definition.end()) is None:
                found.setdefault(place(definition.end()), match[1])  # of several results the first
    return found
