"""Measuring: clocks, blocks of calls, what their spread says, and what the machine can do."""

from pacbench.timing.model import Timing
from pacbench.timing.weather import Weather

__all__ = ["Timing", "Weather"]
