"""What ONNX says of its own op types: which opsets tinyc reads, what a node may have, and functions in place of ops.

Where a handler fails, ONNX says whether the node is to blame.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import onnx
from google.protobuf.message import DecodeError

from tinyc.diagnostics import TinycError
from tinyc.importers.onnx.attributes import ONNX_NUMBERS
from tinyc.importers.onnx.values import Known, OnnxValue

#: An `onnx.defs.OpSchema`, of which the stubs of onnx lack most.
OpSchema: TypeAlias = Any
#: The oldest opset that is read; an op of an older one is, where it has not changed since.
OLDEST_OPSET = 13
NEWEST_OPSET = onnx.defs.onnx_opset_version()
#: What ONNX also calls the domain of its own ops.
_OWN_DOMAIN = "ai.onnx"
#: ONNX is told the elements of a constant only up to so many: those that say a shape.
_MAX_SHOWN = 1024
#: What the package onnx throws at nodes that are not as it has them: C++'s errors, an index out of range among them.
_THROWN = (RuntimeError, ValueError, TypeError, IndexError)
#: Op types that ONNX deprecates in some of these opsets, and that tinyc reads as they were meant.
_DEPRECATED_AND_READ = ("GroupNormalization",)
#: Why op types are out of scope.
_REFUSED = {
    **dict.fromkeys(("Loop", "Scan"), "loops are out of scope; unroll it when the model is exported"),
    **dict.fromkeys(
        ("NonZero", "Unique", "Compress", "NonMaxSuppression"),
        "the shape of its result depends on data, which is out of scope",
    ),
    **dict.fromkeys(
        ("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer", "LabelEncoder"),
        "strings are out of scope",
    ),
    "ImageDecoder": "image files are out of scope",
    **dict.fromkeys(("SplitToSequence", "ConcatFromSequence"), "sequences are out of scope"),
}


def domain_of(domain: str) -> str:
    """A domain, "" for that of ONNX's own ops."""
    return "" if domain == _OWN_DOMAIN else domain


def opset_versions(imports: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """The opset of each domain.

    Raises:
        TinycError: `UnsupportedOnnx`: it is newer than the package onnx; `InvalidOnnx`.
    """
    versions = {domain_of(each.domain): each.version for each in imports}
    version = versions.get("", NEWEST_OPSET)
    if version > NEWEST_OPSET:
        message = f"opset {version} is newer than the package onnx {onnx.__version__}, which knows {NEWEST_OPSET}"
        raise TinycError("UnsupportedOnnx", f"{message}; update it, or export to an older one")
    if min(versions.values(), default=1) < 1:
        raise TinycError("InvalidOnnx", f"the opsets are {versions}; a version is 1 or more")
    return versions


@functools.lru_cache(maxsize=4096)
def op_schema(op_type: str, version: int) -> OpSchema:
    """What ONNX says of one of its own op types.

    Raises:
        TinycError: `UnsupportedOnnx`: there is no such op, or it has changed since its opset, which is old.
    """
    try:
        schema = onnx.defs.get_schema(op_type, version, "")
        if version < OLDEST_OPSET and schema.since_version != _since(op_type):
            message = f"{op_type} of opset {version} is too old: tinyc reads opset {OLDEST_OPSET} to {NEWEST_OPSET}; "
            remedy = f"convert the model by onnx.version_converter.convert_version(model, {OLDEST_OPSET})"
            raise TinycError("UnsupportedOnnx", message + remedy)
    except onnx.defs.SchemaError:
        raise TinycError("UnsupportedOnnx", f"ONNX has no op {op_type} in opset {version}") from None
    if schema.deprecated and op_type not in _DEPRECATED_AND_READ:
        raise TinycError("UnsupportedOnnx", f"{op_type} is deprecated since opset {schema.since_version}")
    return schema


def _since(op_type: str) -> int | None:
    try:
        return onnx.defs.get_schema(op_type, OLDEST_OPSET, "").since_version
    except onnx.defs.SchemaError:
        return None


def refused(op_type: str, domain: str = "") -> TinycError:
    """The error for an op type that tinyc lacks."""
    if domain:
        return TinycError("UnsupportedOnnx", f"tinyc has no op {domain}.{op_type}")
    if op_type.startswith(("Sequence", "Optional")):
        kind = "sequences" if op_type.startswith("Sequence") else "optional values"
        return TinycError("UnsupportedOnnx", f"{op_type}: {kind} are out of scope")
    if op_type in _REFUSED:
        return TinycError("UnsupportedOnnx", f"{op_type}: {_REFUSED[op_type]}")
    return TinycError("UnsupportedOnnx", f"tinyc has no op {op_type}")


def check_node(schema: OpSchema, node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]) -> None:
    """Check the numbers of inputs and outputs, and the types of the attributes that ONNX knows.

    Raises:
        TinycError: `InvalidOnnx`, `MissingArgument`, `InvalidAttribute`.
    """
    op_type = schema.name
    for what, names, most in (("inputs", node.input, schema.max_input), ("outputs", node.output, schema.max_output)):
        if len(names) > most:
            raise TinycError("InvalidOnnx", f"{op_type} has {len(names)} {what}; it takes {most} at most")
    for at, parameter in enumerate(schema.inputs):
        is_there = at < len(node.input) and node.input[at]
        if parameter.option == onnx.defs.OpSchema.FormalParameterOption.Single and not is_there:
            raise TinycError("MissingArgument", f"{op_type} needs input {at}, and the node has none there")
    if len(node.input) < schema.min_input:
        raise TinycError("MissingArgument", f"{op_type} needs {schema.min_input} inputs")
    for name, known in schema.attributes.items():
        given = attributes.get(name)
        if given is None and known.required:
            raise TinycError("MissingArgument", f"{op_type} needs the attribute '{name}'")
        if given is not None and given.type != known.type.value:
            called = onnx.AttributeProto.AttributeType.Name(given.type).lower()
            message = f"{op_type}: the attribute '{name}' is of type {called}; it must be {known.type.name.lower()}"
            raise TinycError("InvalidAttribute", message)


def schema_function(
    schema: OpSchema, version: int, node: onnx.NodeProto, inputs: Sequence[OnnxValue | None]
) -> onnx.FunctionProto | None:
    """What ONNX says that a node computes, in other ops: the newest function that its opset has; None without one.

    The types of the inputs say which one it is, for some op types.
    """
    function = onnx.FunctionProto()
    try:
        if schema.has_function:
            chosen = _newest(schema.function_opset_versions, version)
            function.ParseFromString(schema.get_function_with_opset_version(chosen))
        elif schema.has_context_dependent_function:
            chosen = _newest(schema.context_dependent_function_opset_versions, version)
            types = [_type_of(each).SerializeToString() for each in inputs]
            raw = schema.get_context_dependent_function_with_opset_version(chosen, node.SerializeToString(), types)
            function.ParseFromString(raw)
    except (DecodeError, *_THROWN) as error:
        message = f"{schema.name}: onnx makes no function of it: {' '.join(str(error).split())[:200]}"
        raise TinycError("InvalidOnnx", message) from None
    for each in function.opset_import:  # ONNX makes a function anew where an op in it changes
        each.version = max(each.version, OLDEST_OPSET) if not domain_of(each.domain) else each.version
    return function if function.node else None


def _newest(versions: Sequence[int], version: int) -> int:
    """The newest version that is not newer, or the oldest of all."""
    return max((each for each in versions if each <= version), default=min(versions))


def _type_of(value: OnnxValue | None) -> onnx.TypeProto:
    if value is None:
        return onnx.TypeProto()
    shape = [each if isinstance(each, int) else str(each) for each in value.shape]
    return onnx.helper.make_tensor_type_proto(ONNX_NUMBERS[value.element], shape)


def function_attributes(
    function: onnx.FunctionProto, schema: OpSchema | None, given: Mapping[str, onnx.AttributeProto]
) -> dict[str, onnx.AttributeProto]:
    """The attributes that a function's body refers to: those that are given, the others at their defaults."""
    defaults = {each.name: each for each in function.attribute_proto}
    if schema is not None:
        defaults |= {name: each.default_value for name, each in schema.attributes.items() if each.default_value.name}
    return {**defaults, **given}


# --- what is wrong with a node ----------------------------------------------------------------------------------------


def onnx_refusal(
    version: int,
    node: onnx.NodeProto,
    attributes: Mapping[str, onnx.AttributeProto],
    inputs: Sequence[OnnxValue | None],
) -> str | None:
    """What ONNX itself has against a node with inputs of these types, None where it finds nothing wrong.

    By its own inference of types and shapes, on a graph of that node alone.
    """
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    del alone.attribute[:], alone.input[:]
    alone.attribute.extend(attributes.values())
    alone.input.extend("" if each is None else f"input {at}" for at, each in enumerate(inputs))
    graph = onnx.GraphProto(name="alone", node=[alone])
    for name, value in zip(alone.input, inputs, strict=True):
        if value is None:
            continue
        graph.input.add(name=name).type.CopyFrom(_type_of(value))
        if isinstance(value, Known) and not value.is_symbolic and value.array.size <= _MAX_SHOWN:
            graph.initializer.append(onnx.numpy_helper.from_array(value.array, name))
    graph.output.extend(onnx.ValueInfoProto(name=each) for each in node.output if each)
    model = onnx.ModelProto(graph=graph, ir_version=onnx.IR_VERSION)
    model.opset_import.add(version=version)
    try:
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, *_THROWN) as error:
        return " ".join(re.split(r"\[\w+Error\]", str(error))[-1].split())[:300]  # what is before names the op
    return None
