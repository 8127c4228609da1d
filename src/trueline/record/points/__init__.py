"""Watchpoints: conditions on weights, gradients, outputs and norms that a training should not meet."""

from trueline.record.points.engine import Points, Told
from trueline.record.points.findings import finding
from trueline.record.points.hit import PointHit
from trueline.record.points.parsing import parse
from trueline.record.points.point import IDS, Need, Point, needs
from trueline.record.points.recommending import recommended

__all__ = ["IDS", "Need", "Point", "PointHit", "Points", "Told", "finding", "needs", "parse", "recommended"]
