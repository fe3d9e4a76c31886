"""Tasks: what an output is scored by, whatever method it came from."""

from pacbench.tasks.base import Task, tasks

__all__ = ["Task", "tasks"]
