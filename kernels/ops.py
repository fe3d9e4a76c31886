"""The native operators."""
