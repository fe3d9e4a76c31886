"""Protocols: how inputs are degraded. Each has a name, and every record carries it."""

from pacbench.protocols.base import ProtocolParams
from pacbench.protocols.upsampling import UpsampleInputs, UpsampleProtocol

__all__ = ["ProtocolParams", "UpsampleInputs", "UpsampleProtocol"]
