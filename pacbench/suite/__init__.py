"""Suites: what is run. A YAML file, validated, and the cells that it multiplies into."""

from pacbench.suite.cells import Cell
from pacbench.suite.load import Source, load_suite, packaged_suites
from pacbench.suite.schema import Suite

__all__ = ["Cell", "Source", "Suite", "load_suite", "packaged_suites"]
