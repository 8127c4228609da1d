"""The part of JSON Schema that TrueLine's schema uses; a keyword it does not know is an error, not a pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

SILENT = {"$schema", "$id", "$defs", "title", "description"}
KNOWN = SILENT | {
    "$ref", "type", "const", "enum", "pattern", "minimum", "minLength", "required", "properties",
    "additionalProperties", "items", "allOf", "anyOf", "oneOf", "if", "then",
}  # fmt: skip
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> Iterator[str]:
    """What is wrong with a value, each with its place."""
    if unknown := schema.keys() - KNOWN:
        raise ValueError(f"{at}: this checker does not know {sorted(unknown)}")
    if "$ref" in schema:
        yield from faults(value, _definition(schema["$ref"], root), root, at)
    yield from _own_faults(value, schema, at)
    if isinstance(value, dict):
        yield from _faults_of_object(value, schema, root, at)
    if isinstance(value, list) and "items" in schema:
        for place, one in enumerate(value):
            yield from faults(one, schema["items"], root, f"{at}[{place}]")
    for part in schema.get("allOf", ()):
        yield from faults(value, part, root, at)
    if "anyOf" in schema and all(any(faults(value, part, root, at)) for part in schema["anyOf"]):
        yield f"{at}: {value!r} fits none of {schema['anyOf']}"
    if "oneOf" in schema:
        found = [list(faults(value, part, root, at)) for part in schema["oneOf"]]
        if sum(not one for one in found) != 1:
            yield f"{at}: fits {sum(not one for one in found)} of {len(found)} instead of one: {found}"
    if "if" in schema and not any(faults(value, schema["if"], root, at)):
        yield from faults(value, schema["then"], root, at)


def _definition(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    name = reference.removeprefix("#/$defs/")
    found: dict[str, Any] = root["$defs"][name]
    return found


def _own_faults(value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{at}: {value!r} is not {' or '.join(kinds)}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if isinstance(value, str) and "pattern" in schema and re.search(schema["pattern"], value) is None:
        yield f"{at}: {value!r} does not fit {schema['pattern']}"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        yield f"{at}: too short"
    if _is(value, "number") and value < schema.get("minimum", value):
        yield f"{at}: {value} is less than {schema['minimum']}"


def _faults_of_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: {name} is missing"
    properties = schema.get("properties", {})
    for name, one in value.items():
        if name in properties:
            yield from faults(one, properties[name], root, f"{at}.{name}")
        elif "additionalProperties" in schema:
            yield from faults(one, schema["additionalProperties"], root, f"{at}.{name}")


def _is(value: Any, kind: str) -> bool:
    # True is an int to Python and a boolean to JSON.
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
