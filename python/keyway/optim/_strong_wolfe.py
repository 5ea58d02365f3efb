"""A line search for a step that lowers a function enough and flattens its slope: the strong Wolfe conditions."""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

from keyway._C import Tensor


class Point(NamedTuple):
    """What is known of one length of the step."""

    t: float
    loss: float
    grad: Tensor  # flat
    slope: float  # along the direction


Evaluate = Callable[[float], Point]


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points with their slopes is least, within the bounds: those of the points by default.
    The middle of the bounds if it has no minimum."""
    left, right = (a, b) if a.t <= b.t else (b, a)
    low, high = (left.t, right.t) if bounds is None else bounds
    d = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d * d - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    root = math.sqrt(square)
    denominator = right.slope - left.slope + 2 * root
    if denominator == 0:
        return (low + high) / 2
    t = right.t - (right.t - left.t) * (right.slope + root - d) / denominator
    return min(max(t, low), high)


class StrongWolfe:
    """One search from `start`, whose slope is negative. Calls of `evaluate` are counted in `evaluations`; after 25 of
    them the best point so far is taken."""

    decrease = 1e-4
    curvature = 0.9
    longest = 25

    def __init__(self, evaluate: Evaluate, start: Point, direction_max: float, tolerance_change: float) -> None:
        self.evaluate = evaluate
        self.start = start
        self.direction_max = direction_max
        self.tolerance_change = tolerance_change
        self.rounds = 0
        self.evaluations = 0

    def search(self, t: float) -> Point:
        """The point that is found, beginning with a step of length `t`."""
        ends = self._bracket(t)
        return ends[0] if len(ends) == 1 else self._zoom(ends)

    def _at(self, t: float) -> Point:
        self.evaluations += 1
        return self.evaluate(t)

    def _is_too_high(self, point: Point) -> bool:
        return point.loss > self.start.loss + self.decrease * point.t * self.start.slope

    def _is_flat(self, point: Point) -> bool:
        return abs(point.slope) <= -self.curvature * self.start.slope

    def _bracket(self, t: float) -> list[Point]:
        """Two points with a good one between them, or a good one."""
        before, now = self.start, self._at(t)
        while self.rounds < self.longest:
            if self._is_too_high(now) or (self.rounds > 1 and now.loss >= before.loss):
                return [before, now]
            if self._is_flat(now):
                return [now]
            if now.slope >= 0:
                return [before, now]
            bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
            before, now = now, self._at(cubic_minimum(before, now, bounds))
            self.rounds += 1
        return [self.start, now]

    def _zoom(self, ends: list[Point]) -> Point:
        """Makes the bracket smaller until its lower end is good."""
        low, high = sorted(ends, key=lambda point: point.loss)
        first = low is ends[0]
        was_slow = False
        while self.rounds < self.longest and not abs(high.t - low.t) * self.direction_max < self.tolerance_change:
            pair = (low, high) if first else (high, low)
            t, was_slow = self._inside(cubic_minimum(*pair), low.t, high.t, was_slow)
            now = self._at(t)
            self.rounds += 1
            if self._is_too_high(now) or now.loss >= low.loss:
                high = now
                is_swapped = high.loss < low.loss or (high.loss == low.loss and not first)
                if is_swapped:
                    low, high, first = high, low, not first
                continue
            if self._is_flat(now):
                return now
            if now.slope * (high.t - low.t) >= 0:
                high = low
            low = now
        return low

    @staticmethod
    def _inside(t: float, one: float, other: float, was_slow: bool) -> tuple[float, bool]:
        """A length that is not too near the ends for two rounds, and whether this one is."""
        least, most = min(one, other), max(one, other)
        margin = 0.1 * (most - least)
        if not min(most - t, t - least) < margin:
            return t, False
        if was_slow or t >= most or t <= least:
            return (most - margin if abs(t - most) < abs(t - least) else least + margin), False
        return t, True
