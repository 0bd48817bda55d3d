"""The MLIR Python bindings: the one module that names them.

Everything else writes ``from tinyc.mlir import ir, passmanager, ext, arith, …``. The provider is the pinned wheel
``numba-cuda-mlir`` (upstream bindings under ``numba_cuda_mlir._mlir``), or the official package ``mlir`` when the
environment says ``TINYC_MLIR=mlir``. Dialect modules are imported when they are first asked for.

The stubs (`.pyi`) have the types of the bindings. What is built on these, in reading order:

    locations   where an op comes from: places in a user's text
    messages    what MLIR says about IR as frozen data, and the error that carries it
    bodies      what stands inside of an op
    names       symbols, and new names beside those that are taken
    constants   constants of scalar types
    fields      types of attribute fields that IRDL has no constraint for
    verifying   how the verifier of an op runs its rules, and reports
    side_table  ops that stand beside a function to be read
    processes   work that another process does
    pass_help   what MLIR says of its own passes
"""

import ctypes
import importlib
import importlib.util
import os
import sys
import types
from pathlib import Path
from typing import Any

_WHEEL = "numba_cuda_mlir"


def _preload(package: Path) -> None:
    """Load the wheel's libraries with RTLD_DEEPBIND, so that their LLVM never mixes with llvmlite's or torch's."""
    mode = os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0)
    libraries = package / "_mlir" / "_mlir_libs"
    for name in ("libMLIRPythonCAPI.so", f"libMLIRPythonSupport-{_WHEEL}.so"):
        if (libraries / name).exists():
            ctypes.CDLL(str(libraries / name), mode=mode)


class _DeferredPackage(types.ModuleType):
    """The wheel's package, whose own `__init__` runs when something other than the bindings is asked of it.

    That `__init__` starts a compiler for CUDA kernels that tinyc does not use and that costs half a second. It must
    not be missing from `sys.modules` either: importing any module of the bindings would import it.
    """

    def __getattr__(self, name: str) -> Any:
        self.__class__ = types.ModuleType  # type: ignore[assignment]
        self.__dict__["__spec__"].loader.exec_module(self)
        return getattr(self, name)


def _import_provider() -> str:
    """Import the bindings and return the dotted name of their root package."""
    if os.environ.get("TINYC_MLIR") == "mlir":
        importlib.import_module("mlir.ir")
        return "mlir"
    if _WHEEL not in sys.modules:
        spec = importlib.util.find_spec(_WHEEL)
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(
                "tinyc needs the MLIR Python bindings: pip install numba-cuda-mlir==0.6.0, or install the official "
                "package 'mlir' and set TINYC_MLIR=mlir"
            )
        _preload(Path(spec.submodule_search_locations[0]))
        package = importlib.util.module_from_spec(spec)
        package.__class__ = _DeferredPackage
        sys.modules[_WHEEL] = package
    importlib.import_module(f"{_WHEEL}._mlir.ir")
    return f"{_WHEEL}._mlir"


PROVIDER = _import_provider()

ir: Any = importlib.import_module(f"{PROVIDER}.ir")
passmanager: Any = importlib.import_module(f"{PROVIDER}.passmanager")
ext: Any = importlib.import_module(f"{PROVIDER}.dialects.ext")


def _give_builder(cls: Any, fields: Any) -> None:
    """Give the class of a Python-defined op its builder, which takes operands, results and attributes by their fields.

    It stands in for the bindings' own, which asks whether an attribute is true, and so loses `[]`, `array<i64>` and
    `false`, and which takes longer to bind its arguments than to make the op.
    """
    operands, attributes, results, regions = ext.partition_fields(fields)
    signature = cls._generate_init_signature(fields)
    parameters = {name: each for name, each in signature.parameters.items() if name != "self"}
    positional = tuple(name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY)
    defaults = {name: each.default for name, each in parameters.items() if each.default is not each.empty}
    factories = {each.name: each.default_factory for each in attributes if each.default_factory is not None}

    def build(self: Any, *args: Any, **named: Any) -> None:
        given = {**defaults, **dict(zip(positional, args, strict=False)), **named}
        twice = not named.keys().isdisjoint(positional[: len(args)])
        if twice or len(args) > len(positional) or given.keys() != parameters.keys():
            signature.bind(self, *args, **named)  # raises what is wrong
        given.update({name: make() for name, make in factories.items() if given[name] is None})
        ir.OpView.__init__(
            self,
            self.OPERATION_NAME,
            self._ODS_REGIONS,
            self._ODS_OPERAND_SEGMENTS,
            self._ODS_RESULT_SEGMENTS,
            attributes={each.name: given[each.name] for each in attributes},
            results=[each.process_type(given[each.name]) for each in results],
            operands=[given[each.name] for each in operands],
            regions=len(regions) or None,
            loc=given["loc"],
            ip=given["ip"],
        )

    build.__signature__ = signature  # type: ignore[attr-defined]
    cls.__init__ = build


ext.Operation._generate_init_method = classmethod(_give_builder)


def __getattr__(name: str) -> Any:
    """Import an upstream dialect (``arith``, ``scf``, …) or module of the bindings (``rewrite``) on first use."""
    if name.startswith("__"):
        raise AttributeError(name)  # the import system asks for __path__
    for path in (f"{PROVIDER}.dialects.{name}", f"{PROVIDER}.{name}"):
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
            continue
        globals()[name] = module
        return module
    raise AttributeError(f"the MLIR bindings ({PROVIDER}) have no module {name!r}")


def claim_namespace(dialect: str) -> None:
    """Spare the bindings the search for a module `dialects.<dialect>`, which they repeat at each op they hand out."""
    name = f"{PROVIDER}.dialects.{dialect}"
    sys.modules.setdefault(name, types.ModuleType(name))


def fresh_context() -> Any:
    """A new context with upstream dialects only, multithreading off (Python verifiers deadlock otherwise)."""
    created = ir.Context()
    created.enable_multithreading(False)
    return created
