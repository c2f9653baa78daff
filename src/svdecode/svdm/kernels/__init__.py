"""Compiled inner loops of the block steps."""
