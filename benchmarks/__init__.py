"""Measurements, each against a peer or a floor that ran interleaved in the same run. Never timed tests."""
