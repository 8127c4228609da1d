"""A curve so small that it fits into a table's cell."""

from __future__ import annotations

from typing import Final

from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.report.html.axes import Frame
from trueline.report.html.context import Context
from trueline.report.html.drawing import HEIGHT, WIDTH, broken_path, line_path
from trueline.report.html.markup import Markup, element
from trueline.report.html.thinning import telling_steps
from trueline.report.plot import scale_of
from trueline.report.shown import number

_COLUMNS: Final = 60


def spark(curve: Curve, context: Context) -> Markup:
    """The curve as a line without axes; what it says in words is its label."""
    if not curve.steps:
        return Markup()
    steps = telling_steps([curve], _COLUMNS)
    values = dict(zip(curve.steps, curve.values, strict=True))
    ends = {"first": number(curve.values[0]), "last": number(curve.values[-1])}
    label = context.say(message("html.curve", name=curve.name, **ends))
    paths = [element("path", class_="bad", d=broken_path(steps, [values], steps[0], steps[-1]))]
    scale = scale_of([curve])
    if scale is not None:
        paths.append(element("path", class_="curve c1", d=line_path(steps, values, Frame(steps[0], steps[-1], scale))))
    return element(
        "svg",
        element("title", label),
        *paths,
        class_="spark",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
    )
