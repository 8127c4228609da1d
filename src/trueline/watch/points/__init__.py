"""Watchpoints: conditions on weights, gradients, outputs and norms that a training should not meet."""

from trueline.watch.points.engine import Points, Told
from trueline.watch.points.findings import finding
from trueline.watch.points.hit import PointHit
from trueline.watch.points.parsing import parse
from trueline.watch.points.point import IDS, Need, Point, needs
from trueline.watch.points.recommending import recommended

__all__ = ["IDS", "Need", "Point", "PointHit", "Points", "Told", "finding", "needs", "parse", "recommended"]
