"""How the twenty kinds of objects are built, about life-size, of the sculptor's parts.

Between them they have what makes guided filtering hard: thin structures (fence, ladder, bicycle,
lamp), holes (frame, ring, arch, bush), concave outlines (star, car, chair), slanted faces (sign,
house) and curved ones (ball, jar, person, tree).
"""

from __future__ import annotations

import math

import numpy as np

from pacbench.data.draws import Draws
from pacbench.data.scenes.sculptor import CIRCLE, Sculptor, Shape, disc, rectangle


def person(s: Sculptor, d: Draws) -> None:
    tall, step = d.uniform(1.5, 1.9), d.uniform(0.08, 0.16)
    hip, neck = 0.47 * tall, 0.83 * tall
    for side in (-1, 1):
        s.cone((side * step, 0, 0), hip, (0.07, 0.1), tint=1)
        swing = side * d.uniform(0.05, 0.3)
        shoulder, hand = side * 0.2, side * 0.24 + swing
        s.face(_limb((shoulder, neck - 0.06), (hand, hip), 0.045), z=-0.05 * side)
    s.cone((0, hip, 0), neck - hip, (0.17, 0.21))
    s.ball((0, neck, 0), (0.21, 0.08, 0.15))
    s.ball((0, 0.92 * tall, 0), (0.09, 0.12, 0.1), tint=2)


def car(s: Sculptor, d: Draws) -> None:
    long, back = d.uniform(1.7, 2.1), d.uniform(0.3, 0.9)
    hood = [(long, 0.25), (long, 0.7), (0.6 * long, 0.85), (0.25 * long, 1.35)]
    trunk = [(-back * long, 1.4), (-0.85 * long, 0.95), (-long, 0.85), (-long, 0.25)]
    body = np.array(hood + trunk)
    window = np.array([(0.45 * long, 0.88), (0.2 * long, 1.25), (-0.05, 1.27), (-0.05, 0.88)])
    s.box((-0.97 * long, 0.97 * long), (0.25, 0.7), (-0.7, 0.7))
    s.face(body, z=-0.7)
    s.face(window, z=-0.72, tint=2)
    for x in (-0.62 * long, 0.62 * long):
        s.face(disc(x, 0.32, 0.32), z=-0.74, tint=1)
        s.face(disc(x, 0.32, 0.15), z=-0.76, tint=2)


def chair(s: Sculptor, d: Draws) -> None:
    seat, top, w = d.uniform(0.42, 0.5), d.uniform(0.85, 1.1), 0.23
    for x in (-w, w):
        for z in (-w, w):
            s.box((x - 0.02, x + 0.02), (0, seat), (z - 0.02, z + 0.02), tint=1)
    s.box((-w - 0.02, w + 0.02), (seat, seat + 0.05), (-w, w))
    slats = [rectangle(-w + 0.05, y, w - 0.05, y + 0.08) for y in _steps(seat + 0.12, top, 0.14)]
    s.face(rectangle(-w, seat, w, top), *slats, z=w, lean=0.12)


def table(s: Sculptor, d: Draws) -> None:
    w, deep, high = d.uniform(0.5, 0.9), d.uniform(0.3, 0.45), d.uniform(0.65, 0.8)
    for x in (-w, w - 0.06):
        for z in (-deep, deep - 0.06):
            s.box((x, x + 0.06), (0, high), (z, z + 0.06), tint=1)
    s.box((-w - 0.05, w + 0.05), (high, high + 0.06), (-deep - 0.05, deep + 0.05))


def tree(s: Sculptor, d: Draws) -> None:
    trunk, crown = d.uniform(0.9, 1.5), d.uniform(0.55, 0.9)
    s.cone((0, 0, 0), trunk + 0.3, (0.13, 0.07), tint=1)
    for side in (-1, 1):
        tip = (side * d.uniform(0.25, 0.5), trunk + d.uniform(0.1, 0.5))
        s.face(_limb((0, trunk - 0.3), tip, 0.035), tint=1)
    shapes = [_wobbly(d, 0.0, trunk + crown, 0.9 * crown, 0.35)]
    shapes += _holes(d, 0.0, trunk + crown, 0.6 * crown, 4)
    s.ball((0, trunk + crown, 0), (1.3 * crown, 1.3 * crown, 0.8 * crown), shapes=shapes)


def bush(s: Sculptor, d: Draws) -> None:
    size = d.uniform(0.35, 0.6)
    shapes = [_wobbly(d, 0.0, size, size, 0.3), *_holes(d, 0.0, size, 0.7 * size, 3)]
    s.ball((0, size, 0), (1.4 * size, 1.4 * size, 0.8 * size), shapes=shapes)


def crate(s: Sculptor, d: Draws) -> None:
    w, high, deep = d.uniform(0.2, 0.5), d.uniform(0.3, 0.9), d.uniform(0.2, 0.5)
    s.box((-w, w), (0, high), (-deep, deep))
    if d.chance(0.4):
        s.box((-0.6 * w, 0.5 * w), (high, 1.5 * high), (-0.5 * deep, 0.5 * deep), tint=1)


def ball(s: Sculptor, d: Draws) -> None:
    radius = d.uniform(0.15, 0.45)
    s.ball((0, radius, 0), (radius, radius, radius))


def jar(s: Sculptor, d: Draws) -> None:
    wide, high = d.uniform(0.15, 0.3), d.uniform(0.4, 0.8)
    s.cone((0, 0, 0), 0.5 * high, (0.6 * wide, wide))
    s.cone((0, 0.5 * high, 0), 0.35 * high, (wide, 0.4 * wide))
    s.cone((0, 0.85 * high, 0), 0.15 * high, (0.4 * wide, 0.5 * wide), tint=1, closed=True)


def column(s: Sculptor, d: Draws) -> None:
    radius, high = d.uniform(0.12, 0.3), d.uniform(1.2, 2.6)
    s.cone((0, 0, 0), high, (radius, 0.85 * radius))
    s.box((-1.2 * radius, 1.2 * radius), (high, high + 0.15), (-1.2 * radius, 1.2 * radius), tint=1)


def fence(s: Sculptor, d: Draws) -> None:
    half, high, pitch = d.uniform(0.8, 1.6), d.uniform(0.6, 1.1), d.uniform(0.1, 0.2)
    for x in _steps(-half, half, pitch):
        s.face(_spike(x, high + d.uniform(0.0, 0.05), 0.22 * pitch))
    for y in (0.25 * high, 0.8 * high):
        s.face(rectangle(-half, y, half, y + 0.05), z=0.02, tint=1)


def ladder(s: Sculptor, d: Draws) -> None:
    high, lean = d.uniform(1.6, 2.6), d.uniform(0.1, 0.4)
    gaps = [rectangle(-0.17, y, 0.17, y + 0.24) for y in _steps(0.1, high - 0.25, 0.28)]
    s.face(rectangle(-0.21, 0, 0.21, high), *gaps, lean=lean)


def frame(s: Sculptor, d: Draws) -> None:
    w, high, edge = d.uniform(0.3, 0.7), d.uniform(0.6, 1.4), d.uniform(0.06, 0.14)
    panes = rectangle(-w + edge, edge, w - edge, high - edge)
    s.face(rectangle(-w, 0, w, high), panes, lean=d.uniform(-0.3, 0.3))
    s.face(rectangle(-0.02, edge, 0.02, high - edge), z=0.01, tint=1)


def ring(s: Sculptor, d: Draws) -> None:
    radius = d.uniform(0.3, 0.7)
    s.face(disc(0, radius, radius), disc(0, radius, d.uniform(0.5, 0.8) * radius))


def lamp(s: Sculptor, d: Draws) -> None:
    high = d.uniform(1.3, 2.2)
    s.cone((0, 0, 0), 0.04, (0.17, 0.15), tint=1, closed=True)
    s.cone((0, 0, 0), high, (0.018, 0.018), tint=1)
    s.cone((0, high - 0.1, 0), 0.32, (d.uniform(0.2, 0.3), 0.1))


def sign(s: Sculptor, d: Draws) -> None:
    high, size = d.uniform(1.2, 2.0), d.uniform(0.2, 0.35)
    s.cone((0, 0, 0), high, (0.025, 0.025), tint=1)
    triangle = np.array([(-1.0, -0.8), (1.0, -0.8), (0.0, 1.0)])
    square = np.array([(-1.0, 0.0), (0.0, -1.0), (1.0, 0.0), (0.0, 1.0)])
    plate = d.choice([CIRCLE, triangle, square])
    at = np.array([0.0, high])
    s.face(plate * size + at, z=-0.04, tint=2)
    s.face(plate * (0.75 * size) + at, z=-0.05)


def house(s: Sculptor, d: Draws) -> None:
    w, high, deep = d.uniform(0.7, 1.2), d.uniform(0.8, 1.4), d.uniform(0.5, 1.0)
    roof = high + d.uniform(0.4, 0.8)
    s.box((-w, w), (0, high), (-deep, deep))
    gable = np.array([(-w, high), (w, high), (0.0, roof)])
    for z in (-deep, deep):
        s.face(gable, z=z)
    for side in (-1, 1):
        eaves, ridge = (side * (w + 0.1), high - 0.08), (0.0, roof + 0.02)
        s.prism(eaves, ridge, (-deep - 0.1, deep + 0.1), tint=1)
    s.face(rectangle(-0.18, 0, 0.18, 0.65 * high), z=-deep - 0.02, tint=2)


def bicycle(s: Sculptor, d: Draws) -> None:
    wheel, gap = d.uniform(0.3, 0.36), d.uniform(0.48, 0.56)
    for x in (-gap, gap):
        s.face(disc(x, wheel, wheel), disc(x, wheel, wheel - 0.05), tint=1)
        s.face(_limb((x - wheel, wheel), (x + wheel, wheel), 0.008), tint=1)
        s.face(_limb((x, 0.02), (x, 2 * wheel - 0.02), 0.008), tint=1)
    saddle, crank, head = (-0.2, 0.85), (-0.05, wheel), (0.38, 0.8)
    for a, b in ((saddle, crank), (crank, head), (saddle, head), (saddle, (-gap, wheel))):
        s.face(_limb(a, b, 0.025), z=-0.02)
    s.face(_limb(head, (gap, wheel), 0.025), z=-0.02)
    s.face(_limb((0.3, 0.98), (0.45, 0.95), 0.03), z=-0.02, tint=1)
    s.face(_limb((-0.32, 0.92), (-0.1, 0.92), 0.035), z=-0.02, tint=1)


def arch(s: Sculptor, d: Draws) -> None:
    w, high, gap = d.uniform(0.6, 1.0), d.uniform(1.2, 2.0), d.uniform(0.3, 0.45)
    round_top = CIRCLE[: len(CIRCLE) // 2 + 1] * gap + np.array([0.0, 0.55 * high])
    inner = np.concatenate([np.array([(gap, 0.0)]), round_top, np.array([(-gap, 0.0)])])
    outline = np.concatenate([rectangle(-w, 0, w, high)[[0, 3, 2, 1]], inner])
    for z in (-0.15, 0.15):
        s.face(outline, z=z)
    s.box((-w, -w + 0.02), (0, high), (-0.15, 0.15))
    s.box((w - 0.02, w), (0, high), (-0.15, 0.15))


def star(s: Sculptor, d: Draws) -> None:
    size, inner = d.uniform(0.3, 0.6), d.uniform(0.3, 0.55)
    points = CIRCLE[::2]
    radius = np.where(np.arange(len(points)) % 2 == 0, 1.0, inner)[:, None]
    s.face(points * radius * size + np.array([0.0, size]), lean=d.uniform(-0.2, 0.5))


def _limb(a: tuple[float, float], b: tuple[float, float], half: float) -> Shape:
    """A bar from a to b, ``half`` its width to either side."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    share = half / math.sqrt(dx * dx + dy * dy)
    side = np.array([-dy * share, dx * share])
    start, end = np.array(a), np.array(b)
    return np.array([start + side, start - side, end - side, end + side])


def _spike(x: float, high: float, half: float) -> Shape:
    tip = high + 2 * half
    return np.array([(x - half, 0), (x + half, 0), (x + half, high), (x, tip), (x - half, high)])


def _wobbly(d: Draws, x: float, y: float, radius: float, wobble: float) -> Shape:
    """A closed, jagged outline around (x, y)."""
    lobes = np.array([1.0 - wobble * d.uniform() for _ in CIRCLE])[:, None]
    outline: Shape = CIRCLE * (lobes * radius) + np.array([x, y])
    return outline


def _holes(d: Draws, x: float, y: float, reach: float, most: int) -> list[Shape]:
    """Small holes near (x, y), through which the background shows."""
    holes = []
    for _ in range(d.between(0, most)):
        dx, dy = d.direction()
        away = reach * d.uniform(0.2, 1.0)
        holes.append(_wobbly(d, x + dx * away, y + dy * away, 0.22 * reach, 0.5))
    return holes


def _steps(start: float, stop: float, step: float) -> list[float]:
    return [start + step * i for i in range(max(int((stop - start) / step), 0))]
