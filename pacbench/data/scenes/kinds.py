"""The classes: how often each occurs and what it is made of.

Colours and textures overlap between classes on purpose: no class can be told by its colour alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pacbench.data.draws import Draws
from pacbench.data.scenes import things
from pacbench.data.scenes.canvas import Colour
from pacbench.data.scenes.sculptor import Sculptor

RED, ORANGE, YELLOW = (178, 48, 42), (205, 118, 48), (212, 182, 74)
GREEN, LEAF, TEAL = (76, 142, 66), (58, 98, 40), (48, 132, 128)
BLUE, NAVY, VIOLET = (62, 96, 176), (38, 48, 88), (124, 70, 142)
WOOD, BROWN, SAND = (158, 112, 68), (96, 66, 44), (198, 172, 134)
WHITE, GREY, DARK = (222, 220, 214), (140, 140, 142), (52, 50, 54)
SKIN, BRICK = (206, 160, 130), (162, 84, 66)


@dataclass(frozen=True)
class Kind:
    """One class of objects.

    Attributes:
        weight: how often it is drawn, relative to the others.
        colours: the main tint is near one of these.
        textures: the main tint's pattern is one of these.
        others: colours of the second and third tint.
        footprint: radius of its shadow in metres.
        turn: largest half-angle tangent of its yaw: 1 for any view, less for flat things.
    """

    name: str
    build: Callable[[Sculptor, Draws], None]
    weight: int
    colours: tuple[Colour, ...]
    textures: tuple[str, ...]
    others: tuple[Colour, Colour]
    footprint: float = 0.4
    turn: float = 0.35


BACKGROUND = "background"

KINDS: tuple[Kind, ...] = (
    Kind("person", things.person, 26, (RED, BLUE, GREEN, WHITE, DARK, ORANGE),
         ("noise", "stripes", "ramp"), (NAVY, SKIN)),
    Kind("car", things.car, 9, (RED, BLUE, WHITE, GREY, DARK, TEAL),
         ("ramp", "noise"), (DARK, GREY), 1.2),
    Kind("chair", things.chair, 12, (WOOD, BROWN, RED, GREY),
         ("grain", "noise"), (BROWN, DARK), turn=1.0),
    Kind("table", things.table, 7, (WOOD, BROWN, WHITE), ("grain", "ramp"), (BROWN, DARK), 0.6),
    Kind("tree", things.tree, 10, (LEAF, GREEN, ORANGE), ("patches", "noise"), (BROWN, WOOD), 0.6),
    Kind("bush", things.bush, 7, (LEAF, GREEN, TEAL), ("patches", "noise"), (BROWN, LEAF)),
    Kind("crate", things.crate, 10, (WOOD, SAND, GREY, TEAL),
         ("grain", "checks", "noise"), (SAND, DARK), 0.5, 1.0),
    Kind("ball", things.ball, 5, (RED, YELLOW, BLUE, WHITE, ORANGE),
         ("spots", "stripes", "ramp"), (WHITE, DARK), 0.3),
    Kind("jar", things.jar, 6, (TEAL, BRICK, WHITE, VIOLET),
         ("stripes", "ramp", "noise"), (SAND, DARK), 0.25),
    Kind("column", things.column, 6, (WHITE, SAND, GREY), ("noise", "ramp"), (GREY, WHITE), 0.3),
    Kind("fence", things.fence, 5, (WOOD, WHITE, GREY), ("grain", "ramp"), (BROWN, GREY), 0.8),
    Kind("ladder", things.ladder, 3, (WOOD, GREY, YELLOW), ("grain", "ramp"), (BROWN, DARK), 0.3),
    Kind("frame", things.frame, 4, (WOOD, WHITE, DARK),
         ("grain", "noise"), (WHITE, DARK), 0.4, 0.5),
    Kind("ring", things.ring, 3, (ORANGE, RED, BLUE, DARK),
         ("stripes", "ramp"), (DARK, GREY), 0.4, 0.5),
    Kind("lamp", things.lamp, 5, (YELLOW, WHITE, SAND, VIOLET),
         ("ramp", "noise"), (DARK, GREY), 0.25),
    Kind("sign", things.sign, 4, (RED, BLUE, YELLOW, WHITE),
         ("ramp", "stripes"), (GREY, WHITE), 0.2),
    Kind("house", things.house, 5, (BRICK, WHITE, SAND, YELLOW),
         ("bricks", "noise"), (BRICK, BROWN), 1.3, 0.6),
    Kind("bicycle", things.bicycle, 5, (RED, BLUE, GREEN, DARK),
         ("ramp", "noise"), (DARK, GREY), 0.6),
    Kind("arch", things.arch, 3, (SAND, GREY, BRICK), ("bricks", "noise"), (GREY, SAND), 0.9, 0.5),
    Kind("star", things.star, 3, (YELLOW, VIOLET, ORANGE),
         ("ramp", "spots"), (WHITE, RED), 0.3, 0.5),
)  # fmt: skip
"""Class ``i + 1`` is ``KINDS[i]``; class 0 is the background: stage, decals, shadows."""

CLASSES = 1 + len(KINDS)
CLASS_NAMES = (BACKGROUND, *(kind.name for kind in KINDS))
