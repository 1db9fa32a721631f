"""Ports made real: embedded, records over documents, clouds."""
