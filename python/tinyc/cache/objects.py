"""LLVM IR to object code, of which that of each kernel is made once, whatever program the kernel is of.

What an object depends on is in its key, and that is not all of tinyc: an edit of a pass that leaves the LLVM IR of a
kernel as it was makes no object anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tinyc.cache.folder import NewEntry, Sections, usable_cache
from tinyc.cache.keys import key_of, package_versions, sources_state
from tinyc.runtime import cpu_features, jit
from tinyc.runtime.compile_processes import compile_objects
from tinyc.runtime.cpu_features import machine_identity
from tinyc.runtime.jit import ObjectFile
from tinyc.runtime.object_archive import archive_of

_KIND, _CODE = "object", "code"


def object_of(units: Mapping[str, str], cpu: str | None = None) -> ObjectFile:
    """The objects of a program's units, LLVM IR by name, as one; each is from the cache where it is there.

    Raises:
        TinycError, InternalError: as `compile_objects`.
    """
    cache = usable_cache()
    if cache is None or sources_state() is None:
        return _joined(compile_objects([*units.values()], cpu))
    makers = [Path(str(each.__file__)).read_bytes() for each in (jit, cpu_features)]
    versions = package_versions("llvmlite")
    keys = {name: key_of(unit, cpu or machine_identity(), *versions, *makers) for name, unit in units.items()}
    found = {name: cache.read(_KIND, key, _object_in) for name, key in keys.items()}
    missing = [name for name, each in found.items() if each is None]
    made = dict(zip(missing, compile_objects([units[name] for name in missing], cpu), strict=True))
    if made:
        cache.write(_KIND, *(_entry(keys[name], name, each) for name, each in made.items()))
    return _joined([each or made[name] for name, each in found.items()])


def _joined(objects: Sequence[ObjectFile]) -> ObjectFile:
    """Objects for one CPU as one, which is an archive where they are several, and needs what each of them does."""
    first, *others = objects
    if not others:
        return first
    flags = {flag for each in objects for flag in each.flags}
    return replace(first, image=archive_of([each.image for each in objects]), flags=tuple(sorted(flags)))


def _entry(key: str, name: str, made: ObjectFile) -> NewEntry:
    manifest = {"cpu": made.cpu, "flags": list(made.flags)}
    return NewEntry(key, f"{name}, object code for {made.cpu}", manifest, {_CODE: memoryview(made.image)})


def _object_in(manifest: Mapping[str, Any], sections: Sections) -> ObjectFile:
    return ObjectFile(bytes(sections[_CODE]), str(manifest["cpu"]), tuple(map(str, manifest["flags"])))
