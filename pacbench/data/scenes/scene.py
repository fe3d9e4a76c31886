"""One generated scene: stage, objects, image, depth, flow and labels from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacbench.data.draws import Draws
from pacbench.data.scenes.canvas import Canvas, Material
from pacbench.data.scenes.kinds import KINDS, Kind
from pacbench.data.scenes.motion import flow_of
from pacbench.data.scenes.sculptor import Pose, Sculptor
from pacbench.data.scenes.stage import Stage, build_stage, cast_shadow, jitter, light_up, wall_depth

CAMOUFLAGE = 0.2
"""Share of the objects that take a colour of the stage: depth edges with weak contrast."""


@dataclass(frozen=True)
class Scene:
    """Everything known of one picture; shapes as in ``Sample``, colours before the sensor."""

    colours: NDArray[np.float32]
    depth: NDArray[np.float32]
    flow: NDArray[np.float32]
    labels: NDArray[np.uint8]


@dataclass(frozen=True)
class _Thing:
    kind: Kind
    label: int
    pose: Pose
    scale: float


def make_scene(shape: tuple[int, int], draws: Draws) -> Scene:
    """A scene of (H, W) pixels; the same draws give the same scene."""
    height, width = shape
    focal = 0.9 * max(height, width)
    canvas = Canvas(shape, focal, horizon=height * draws.uniform(0.3, 0.5))
    stage = build_stage(canvas, draws)
    things = _place(canvas, stage, draws)
    for thing in things:
        radius = thing.kind.footprint * thing.scale
        cast_shadow(canvas, stage, thing.pose.x, thing.pose.z, radius)
    for number, thing in enumerate(things, start=1):
        tints = _tints(thing, number, stage, draws)
        sculptor = Sculptor(canvas, stage.light, thing.pose, tints, thing.scale)
        thing.kind.build(sculptor, draws)
    centres = [(thing.pose.x / thing.pose.z, 0.5 * stage.below / thing.pose.z) for thing in things]
    flow = flow_of(canvas, canvas.instances(), centres, draws)
    light_up(canvas, draws)
    return Scene(canvas.colours(), np.float32(1) / canvas.inverse_depth, flow, canvas.labels())


def _place(canvas: Canvas, stage: Stage, draws: Draws) -> list[_Thing]:
    """A few kinds, each with one or several objects somewhere in view."""
    reach = canvas.shape[1] / (2 * canvas.focal)
    things = []
    for _ in range(draws.between(2, 5)):
        index = draws.weighted([kind.weight for kind in KINDS])
        kind = KINDS[index]
        for _ in range(draws.choice((1, 1, 1, 2, 2, 3, 4))):
            ray = draws.uniform(-reach, reach)
            farthest = wall_depth(canvas, ray) - 0.3 - kind.footprint
            nearest = min(1.8 + 1.5 * kind.footprint, farthest - 0.3)
            z = draws.uniform(nearest, farthest)
            x = z * ray
            cos, sin = draws.turn(kind.turn)
            pose = Pose(x, z, stage.below, cos, sin)
            things.append(_Thing(kind, index + 1, pose, draws.uniform(0.8, 1.2)))
    return things


def _tints(thing: _Thing, number: int, stage: Stage, draws: Draws) -> list[Material]:
    kind = thing.kind
    hidden = draws.chance(CAMOUFLAGE)
    main = draws.choice(stage.colours if hidden else kind.colours)
    materials = []
    for tint, colour in enumerate((main, *kind.others)):
        low = draws.uniform(0.55, 0.85)
        materials.append(
            Material(
                low=jitter(draws, colour, 12, low),
                high=jitter(draws, colour, 12, draws.uniform(0.95, 1.2)),
                texture=draws.choice(kind.textures) if tint == 0 else "noise",
                period=draws.uniform(0.15, 0.5),
                offset=(draws.uniform(0, 8), draws.uniform(0, 8)),
                label=thing.label,
                instance=number,
            )
        )
    return materials
