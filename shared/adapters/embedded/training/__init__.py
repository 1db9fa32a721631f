"""Trains the linear heads of the offline models from the utterances beside it; nothing here runs in production."""
