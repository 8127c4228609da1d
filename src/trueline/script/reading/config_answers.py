"""Where a script's settings come from: argparse, environment, YAML and JSON files."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from trueline.model.location import Location
from trueline.model.regular_file import open_regular
from trueline.model.toml_text import parse_toml
from trueline.script.reading.known import written
from trueline.script.reading.yaml_text import YamlNode, yaml_node, yaml_value
from trueline.script.trace import Event
from trueline.script.values import Const, Derived, Made, Seq, Symbol, Table, Unknown, Value

if TYPE_CHECKING:
    from trueline.script.reading.calling import Calling

_LARGEST: Final = 1 << 18
_FLAGS: Final = {"store_true": False, "store_false": True, "count": 0}


def _argument(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``add_argument``, on a parser or one of its groups."""
    del node
    options = [name.value for name in event.args if isinstance(name, Const) and isinstance(name.value, str)]
    parser = _parser(event.receiver)
    if not options or parser is None:
        return None
    named = event.arg(None, "dest")
    long = max(options, key=lambda name: name.startswith("--"))
    name = str(named.value) if isinstance(named, Const) else long.lstrip("-").replace("-", "_")
    action = event.arg(None, "action")
    default = event.arg(None, "default")
    if isinstance(default, Const) and isinstance(default.value, str):
        default = _typed(default, event.arg(None, "type"))
    if default is None:
        word = str(action.value) if isinstance(action, Const) else ""
        known = {"store_true": False, "store_false": True, "count": 0}.get(word)
        required = not long.startswith("-")
        default = Unknown(f"argument {name}") if required else Const(known, event.place)
    elif isinstance(default, Const) and default.origin is None:
        default = Const(default.value, event.place)
    reader.arguments.setdefault(id(parser), {})[name] = default
    return None


def _typed(default: Const, kind: Value | None) -> Value:
    convert: Any = {"builtins.int": int, "builtins.float": float}.get(kind.name if isinstance(kind, Symbol) else "")
    try:
        return Const(convert(default.value), default.origin) if convert is not None else default
    except ValueError:
        return default


def _parser(value: Value | None) -> Event | None:
    while isinstance(value, Made):
        if value.name.endswith(("ArgumentParser", "ArgParser")):
            return value.event
        if value.event.method not in ("add_argument_group", "add_mutually_exclusive_group", "add_parser"):
            return None
        value = value.event.receiver
    return None


def _parsed(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    parser = _parser(event.receiver)
    if parser is None:
        return None
    given = reader.arguments.setdefault(id(parser), {})
    for name, value in reader.arguments.get(-id(parser), {}).items():
        given[name] = value
    table = Table(dict(given))
    return Seq("tuple", [table, Seq("list", [], True)]) if event.method == "parse_known_args" else table


def _set_defaults(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    parser = _parser(event.receiver)
    if parser is not None:
        reader.arguments.setdefault(-id(parser), {}).update(event.kwargs)
    return None


def _environment(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    # It is there to be set: its default is one of the values it may have.
    return Unknown("environment", tuple(event.args))


def _file(value: Value | None) -> str | None:
    """The name of the file that a value opens or reads."""
    match value:
        case Const() if isinstance(value.value, str):
            return value.value
        case Made():
            if value.name in ("builtins.open", "pathlib.Path", "pathlib.PurePath", "codecs.open"):
                return _file(value.event.arg(0, "file"))
            if value.event.method in ("read", "read_text", "open", "resolve", "absolute", "__enter__"):
                return _file(value.event.receiver)
            if value.name.endswith((".join", ".joinpath")):
                return _file(value.event.args[-1]) if value.event.args else None
        case Derived() if value.op in ("Div", "Add"):
            return _file(value.of[-1])
    return None


def _loaded(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``yaml.safe_load``, ``json.load`` and their like, of a file that is there."""
    del node
    name = _file(event.arg(0))
    if name is None:
        return None
    here = Path(reader.machine.frame.module.file).resolve().parent
    for folder in (here, here.parent, Path.cwd()):
        path = folder / name
        try:
            if path.is_file():
                shown = Path(os.path.normpath(Path(event.place.file).parent / os.path.relpath(path, here)))
                return read_settings(path, event.name, event.place, shown.as_posix())
        except (OSError, ValueError):
            return None
    return None


def read_settings(path: Path, reader: str, place: Location, shown: str) -> Value:
    """What a file says, as ``reader`` (``yaml.safe_load`` …) takes it; a ValueError where it says nothing, or too much.

    Each number has its line in the file that is ``shown``, or the place of the call that reads it.
    """
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError("too large")
    text = data.decode("utf-8")
    try:
        if reader.startswith("json.") or path.suffix == ".json":
            return _read(json.loads(text), place, shown, yaml_node(text))
        if reader.startswith("tomllib.") or path.suffix == ".toml":
            return _read(parse_toml(text), place, shown, None)
        node = yaml_node(text)
        if node is None:
            raise ValueError("no YAML, or PyYAML is not installed")
        return _read(yaml_value(node), place, shown, node)
    except (RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _read(content: object, place: Location, file: str, node: YamlNode | None) -> Value:
    """What a file says, each number with its line in it, or with the call that reads it."""
    here = Location(file, node.start_mark.line + 1, node.end_mark.line + 1) if node is not None else place
    inside = node.value if node is not None and not isinstance(node.value, str) else ()
    if isinstance(content, dict):
        nodes = {
            pair[0].value: pair[1] for pair in inside if isinstance(pair, tuple) and isinstance(pair[0].value, str)
        }
        return Table({key: _read(value, place, file, nodes.get(str(key))) for key, value in content.items()})
    if isinstance(content, list):
        items = [None if isinstance(item, tuple) else item for item in inside]
        items = items if len(items) == len(content) else [None] * len(content)
        return Seq("list", [_read(value, place, file, item) for value, item in zip(content, items, strict=True)])
    return written(content, here)


BY_NAME: Final = {
    "os.environ.get": _environment,
    "os.getenv": _environment,
    **dict.fromkeys(
        ("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "json.load", "json.loads", "tomllib.load",
         "tomllib.loads", "omegaconf.OmegaConf.load"),
        _loaded,
    ),
}  # fmt: skip
BY_METHOD: Final = {
    "add_argument": _argument,
    "parse_args": _parsed,
    "parse_known_args": _parsed,
    "set_defaults": _set_defaults,
}
