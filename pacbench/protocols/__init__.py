"""Protocols: how inputs are degraded. Each has a name, and every record carries it."""

from pacbench.protocols.upsampling import UpsampleInputs, UpsampleProtocol

__all__ = ["UpsampleInputs", "UpsampleProtocol"]
