"""Generated scenes: the default data, made from a seed, the same on every platform."""

from pacbench.data.scenes.dataset import Scenes, ScenesParams

__all__ = ["Scenes", "ScenesParams"]
