"""Own passes: those that a user's file defines, and those that installed packages announce.

In: a file of Python, or the entry points of the group `tinyc.passes`. Out: the classes, which are known to be passes as
tinyc has them: named, with options that text can spell, and with names of their own.
"""

import dataclasses
import inspect
import re
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.files import read_file
from tinyc.passes.failures import raised_at
from tinyc.passes.options import OPTION_TYPES, spelt_type
from tinyc.passes.pipeline_text import is_upstream
from tinyc.passes.step import Pass, PassFile

#: The group of entry points: each names a pass, or a module of passes.
ENTRY_POINTS = "tinyc.passes"

_NAME = re.compile(r"[A-Za-z][\w.-]*")
_HOW = "derive a frozen dataclass from tinyc.passes.Pass, with a name and run(self, module)"


def load_passes(file: str) -> list[type[Pass]]:
    """The passes that a file of Python defines.

    Raises:
        TinycError: `UnreadableFile`; `InvalidPass`: the file raises, or has no pass, or what it has is none.
    """
    module = types.ModuleType(f"passes of {Path(file).resolve()}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # where dataclasses look names up
    try:
        exec(compile(read_file(Path(file)), file, "exec"), module.__dict__)
    except TinycError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {_said(error)}"
        message = f"the file of passes cannot be loaded: {what}; mend it, --debug shows the traceback"
        raise TinycError("InvalidPass", message, raised_at(error, file)) from error
    return _defined(module, PassFile(file))


def installed_passes() -> list[type[Pass]]:
    """The passes that installed packages announce, in the order of their entry points' names.

    Raises:
        TinycError: `InvalidPass`: an entry point cannot be loaded, or is no pass.
    """
    found: list[type[Pass]] = []
    for each in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            loaded = each.load()
        except (Exception, SystemExit) as error:
            message = f"it cannot be loaded: {type(error).__name__}: {_said(error)}"
            raise _bad_entry_point(each, f"{message}; mend it or uninstall it, --debug shows the traceback") from error
        if isinstance(loaded, types.ModuleType):
            found += _defined(loaded, PassFile(str(loaded.__file__), installed=True))
        elif isinstance(loaded, type) and issubclass(loaded, Pass):
            found.append(_checked(loaded, PassFile(str(inspect.getfile(loaded)), installed=True)))
        else:
            raise _bad_entry_point(each, f"it is neither a pass nor a module of passes; {_HOW}")
    return found


def check_names(own: Sequence[type[Pass]], taken: Mapping[str, str]) -> None:
    """Check that own passes have names that nothing else has; `taken` says whose a name is.

    Raises:
        TinycError: `InvalidPass`.
    """
    owners = dict(taken)
    for each in own:
        owner = owners.get(each.name) or ("a pass of MLIR's" if is_upstream(each.name) else None)
        if owner is not None:
            raise _refusal(each, f"'{each.name}' is the name of {owner}; give the pass another")
        owners[each.name] = (
            f"the pass {each.__name__} in {each.loaded_from.file if each.loaded_from else each.__module__}"
        )


def _defined(module: types.ModuleType, loaded_from: PassFile) -> list[type[Pass]]:
    """The passes that a module defines, in its order; those that it imports are not its own."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Pass)]
    own = [each for each in classes if each.__module__ == module.__name__ and not inspect.isabstract(each)]
    if not own:
        raise TinycError("InvalidPass", f"the file defines no pass; {_HOW}", Where(file=loaded_from.file))
    return [_checked(each, loaded_from) for each in dict.fromkeys(own)]


def _checked(own: type[Pass], loaded_from: PassFile) -> type[Pass]:
    """An own pass, which knows where it is from.

    Raises:
        TinycError: `InvalidPass`: it has no name, is no frozen dataclass, or has an option that text cannot spell.
    """
    own.loaded_from = loaded_from
    name = getattr(own, "name", None)
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise _refusal(
            own, f"'name' is {name!r}; give a name such as 'drop-casts', of letters, digits, '-', '_' and '.'"
        )
    if "__dataclass_params__" not in vars(own):
        raise _refusal(own, "it is no dataclass; write @dataclass(frozen=True) before it")
    for what in ("consumes", "produces"):
        layers: Any = getattr(own, what)
        if not isinstance(layers, tuple):
            raise _refusal(own, f"'{what}' is {layers!r}; give a tuple of names of layers, such as ('tiny',)")
    try:
        hints = typing.get_type_hints(own)
    except Exception as error:
        raise _refusal(own, f"its annotations cannot be read: {error}; import what they name") from error
    for field in dataclasses.fields(own):
        if field.name == "name" or hasattr(Pass, field.name):
            message = f"option '{field.name}' has the name of what every pass has; rename it, or make it a ClassVar"
            raise _refusal(own, message)
        if spelt_type(hints[field.name]) not in OPTION_TYPES:
            message = (
                f"option '{field.name}' is of a type that text cannot spell; give str, int, float, bool, or | None"
            )
            raise _refusal(own, message)
    return own


def _refusal(own: type[Pass], message: str) -> TinycError:
    """The error about the class of a pass, at its first line."""
    try:
        line = inspect.getsourcelines(own)[1]
    except (OSError, TypeError):
        line = None
    file = own.loaded_from.file if own.loaded_from is not None else None
    return TinycError("InvalidPass", f"the pass {own.__name__}: {message}", Where(file=file, line=line))


def _bad_entry_point(point: metadata.EntryPoint, message: str) -> TinycError:
    package = point.dist.name if point.dist is not None else "a package"
    return TinycError("InvalidPass", f"the entry point '{point.name} = {point.value}' of {package}: {message}")


def _said(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)
