"""Bytes: what the inputs are, how they are unpacked, and what their clocks say. Everything is opened read-only."""
