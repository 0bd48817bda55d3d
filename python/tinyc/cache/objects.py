"""LLVM IR to object code, of which each is made once.

What an object depends on is in its key, and that is not all of tinyc: an edit of a pass that leaves the LLVM IR as it
was makes no object anew.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc.cache.folder import Sections, usable_cache
from tinyc.cache.keys import key_of, package_versions, sources_state
from tinyc.runtime import cpu_features, jit
from tinyc.runtime.cpu_features import machine_identity
from tinyc.runtime.jit import ObjectFile, compile_object

_KIND, _CODE = "object", "code"


def object_of(llvm_ir: str, cpu: str | None = None) -> ObjectFile:
    """The object that `compile_object` makes, from the cache where it is there.

    Raises:
        TinycError, InternalError: as `compile_object`.
    """
    cache = usable_cache()
    if cache is None or sources_state() is None:
        return compile_object(llvm_ir, cpu)
    makers = [Path(str(each.__file__)).read_bytes() for each in (jit, cpu_features)]
    key = key_of(llvm_ir, cpu or machine_identity(), *package_versions("llvmlite"), *makers)
    found = cache.read(_KIND, key, _object_in)
    if found is None:
        found = compile_object(llvm_ir, cpu)
        manifest = {"cpu": found.cpu, "flags": list(found.flags)}
        title = f"object code for {found.cpu}"
        cache.write(_KIND, key, title, manifest, {_CODE: memoryview(found.image)})
    return found


def _object_in(manifest: Mapping[str, Any], sections: Sections) -> ObjectFile:
    return ObjectFile(bytes(sections[_CODE]), str(manifest["cpu"]), tuple(map(str, manifest["flags"])))
