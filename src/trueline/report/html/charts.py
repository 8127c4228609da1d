"""Curves over each other, with what noise explains and the step to look at."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trueline.model.message import message
from trueline.model.report import Axis, Band, Curves
from trueline.model.visible import visible
from trueline.report.html.axes import Frame
from trueline.report.html.context import Context
from trueline.report.html.drawing import HEIGHT, WIDTH, band_path, broken_path, line_path
from trueline.report.html.markup import Markup, element
from trueline.report.html.thinning import telling_steps
from trueline.report.plot import Scale, scale_of
from trueline.report.shown import number

# Columns of the picture for one curve; several share them, so that the page stays small.
_COLUMNS: Final = 1200
_FEWEST_COLUMNS: Final = 20
_COLOURS: Final = 6

Points = Mapping[int, float]


def curves_block(block: Curves, context: Context) -> Markup:
    """The chart with its legend, and what the page's script needs to name the values at a step."""
    id = context.id()
    scale = scale_of(block.curves)
    title = context.say(block.title)
    if scale is not None and scale.log:
        title = context.say(message("report.log_scale", title=title))
    columns = max(_FEWEST_COLUMNS, _COLUMNS // max(1, len(block.curves)))
    always = [mark.step for mark in block.marks] + ([] if block.mark is None else [block.mark])
    steps = telling_steps(block.curves, columns, always)
    curves = [dict(zip(curve.steps, curve.values, strict=True)) for curve in block.curves]
    parts = [context.heading(title, id)]
    if not steps:
        parts.append(element("p", context.say(message("html.no_values")), class_="note"))
        return element("section", *parts, class_="block curves")
    frame = Frame(steps[0], steps[-1], _with_band(scale or Scale(0, 1, False), block.band))
    picture = element(
        "svg",
        *_grid(frame, block.axis),
        _paths(block, frame, steps, curves, columns),
        *_fork(block, frame, curves, context),
        *_marks(block, frame, context),
        element("line", class_="cursor", x1="0", x2="0", y1="0", y2="100%"),
        class_="plot",
        role="img",
        aria_label="; ".join([title, *_in_words(block, context)]),
    )
    box = element(
        "div",
        picture,
        class_="plot-box",
        tabindex="0",
        role="group",
        aria_labelledby=id,
        data_points=_data(block, steps, curves, context),
    )
    readout = element("p", context.say(message("html.hover")), class_="readout with-script", role="status")
    parts += [_legend(block, curves, context), box, readout]
    return element("section", *parts, class_="block curves")


def _with_band(scale: Scale, band: Band | None) -> Scale:
    """A curve that never changes has no scale of its own: the band around it gives one."""
    if band is None or scale.high > scale.low:
        return scale
    sides = [value for value in (*band.low, *band.high, scale.low) if math.isfinite(value)]
    return Scale(min(sides), max(sides), False)


def _grid(frame: Frame, axis: Axis | None) -> Iterator[Markup]:
    for value, name in frame.value_ticks():
        at = _percent(frame.y(value))
        yield element("line", class_="grid", x1="0", x2="100%", y1=at, y2=at)
        yield element("text", name, x="-8", y=at, dy="0.32em", class_="value")
    named = frame.named_steps(axis.at) if axis is not None else ((step, str(step)) for step in frame.step_ticks())
    for step, name in named:
        yield element("text", name, x=_percent(frame.x(step)), y="100%", dy="1.5em", class_="step")
    yield element("line", class_="axis", x1="0", x2="100%", y1="100%", y2="100%")


def _paths(block: Curves, frame: Frame, steps: Sequence[int], curves: Sequence[Points], columns: int) -> Markup:
    paths = []
    if block.band is not None:
        paths.append(element("path", class_="band", d=band_path(block.band, frame, columns)))
    paths += [
        element("path", class_=f"curve {_look(place, block)}", d=line_path(steps, values, frame))
        for place, values in enumerate(curves)
    ]
    broken = broken_path(steps, curves, steps[0], steps[-1])
    if broken:
        paths.append(element("path", class_="bad", d=broken))
    view = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", *paths, viewBox=view, preserveAspectRatio="none", width="100%", height="100%")


def _fork(block: Curves, frame: Frame, curves: Sequence[Points], context: Context) -> Iterator[Markup]:
    if block.mark is None or not frame.first <= block.mark <= frame.last:
        return
    share = frame.x(block.mark)
    at = _percent(share)
    yield element("line", class_="fork", x1=at, x2=at, y1="0", y2="100%")
    for place, values in enumerate(curves):
        value = values.get(block.mark, math.nan)
        if math.isfinite(value):
            yield element("circle", class_=f"fork c{place % _COLOURS}", cx=at, cy=_percent(frame.y(value)), r="4")
    mark = message("html.fork", step=block.mark) if len(curves) > 1 else message("report.where_step", step=block.mark)
    side = "-7" if share > 0.5 else "7"
    yield element(
        "text", context.say(mark), x=at, y="0", dx=side, dy="0.9em", class_="fork before" if share > 0.5 else "fork"
    )


def _marks(block: Curves, frame: Frame, context: Context) -> Iterator[Markup]:
    """A line for each, and what is there; one below the other, so that neighbours can be read."""
    for place, mark in enumerate(sorted(block.marks, key=lambda one: one.step)):
        if frame.first <= mark.step <= frame.last:
            share = frame.x(mark.step)
            at = _percent(share)
            yield element("line", class_="mark", x1=at, x2=at, y1="0", y2="100%")
            side = {"dx": "-7", "class_": "mark before"} if share > 0.5 else {"dx": "7", "class_": "mark"}
            yield element("text", context.say(mark.said), x=at, y="0", dy=f"{0.9 + 1.3 * place:.1f}em", **side)


def _legend(block: Curves, curves: Sequence[Points], context: Context) -> Markup:
    keys = [
        element("li", element("span", class_=f"key {_look(place, block)}"), curve.name)
        for place, curve in enumerate(block.curves)
    ]
    if block.band is not None:
        keys.append(element("li", element("span", class_="key band"), context.say(message("html.band"))))
    if any(not math.isfinite(value) for values in curves for value in values.values()):
        keys.append(element("li", element("span", class_="key bad"), context.say(message("html.non_finite"))))
    return element("ul", *keys, class_="legend")


def _look(place: int, block: Curves) -> str:
    """The first of several is broad, so that one that runs over it does not hide it."""
    return f"c{place % _COLOURS}" + (" broad" if place == 0 and len(block.curves) > 1 else "")


def _in_words(block: Curves, context: Context) -> Iterator[str]:
    for curve in block.curves:
        if curve.steps:
            ends = {"first": number(curve.values[0]), "last": number(curve.values[-1])}
            yield context.say(message("html.curve", name=curve.name, **ends))
    if block.mark is not None:
        yield context.say(message("report.where_step", step=block.mark))
    yield from (context.say(mark.said) for mark in block.marks)


def _data(block: Curves, steps: Sequence[int], curves: Sequence[Points], context: Context) -> str:
    """What a pointer over the chart can name: the values at every step that is drawn."""
    rows = [
        {"name": visible(curve.name), "at": [_exact(values.get(step)) for step in steps]}
        for curve, values in zip(block.curves, curves, strict=True)
    ]
    if block.band is not None:
        name = context.say(message("html.band"))
        low, high = (dict(zip(block.band.steps, side, strict=True)) for side in (block.band.low, block.band.high))
        at = [f"{_exact(low[step])} … {_exact(high[step])}" if step in low else None for step in steps]
        rows.append({"name": name, "at": at})
    axis = block.axis
    named = message("report.where_step", step="{step}") if axis is None else message(axis.name, value="{step}")
    data: dict[str, Any] = {"step": context.say(named), "steps": list(steps), "rows": rows}
    if axis is not None:
        data["names"] = [number(axis.at[step]) for step in steps]
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _exact(value: float | None) -> str | None:
    """More digits than elsewhere: curves that part do so in the last ones."""
    if value is None:
        return None
    return f"{value:.8g}" if math.isfinite(value) else number(value)


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"
