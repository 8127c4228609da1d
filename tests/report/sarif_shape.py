"""The parts of SARIF 2.1.0 that a checklist is written in, as the standard's schema has them."""

from __future__ import annotations

from typing import Any

_TEXT: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}},
}
_LEVEL: dict[str, Any] = {"enum": ["none", "note", "warning", "error"]}


def _object(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these properties and, as everywhere in SARIF, no others."""
    return {"type": "object", "required": list(required), "additionalProperties": False, "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_LOCATION = _object(
    physicalLocation=_object(
        ("artifactLocation",),
        artifactLocation=_object(uri={"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"}),
        region=_object(startLine={"type": "integer", "minimum": 1}),
    ),
    logicalLocations=_list(_object(fullyQualifiedName={"type": "string"}, kind={"type": "string"})),
)
_RULE = _object(
    ("id",),
    id={"type": "string"},
    shortDescription=_TEXT,
    fullDescription=_TEXT,
    help=_TEXT,
    defaultConfiguration=_object(level=_LEVEL),
)
_RESULT = _object(
    ("message",),
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    kind={"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
    level=_LEVEL,
    message=_TEXT,
    locations=_list(_LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    suppressions=_list(_object(("kind",), kind={"enum": ["inSource", "external"]})),
    properties={"type": "object"},
)
SARIF = _object(
    ("version", "runs"),
    **{"$schema": {"type": "string"}},
    version={"const": "2.1.0"},
    runs=_list(
        _object(
            ("tool",),
            tool=_object(
                ("driver",),
                driver=_object(("name",), name={"type": "string"}, version={"type": "string"}, rules=_list(_RULE)),
            ),
            language={"type": "string", "pattern": "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$"},
            invocations=_list(
                _object(
                    ("executionSuccessful",),
                    executionSuccessful={"type": "boolean"},
                    toolExecutionNotifications=_list(_object(("message",), level=_LEVEL, message=_TEXT)),
                )
            ),
            results=_list(_RESULT),
        )
    ),
)
