"""Deterministic flows: generators over the orchestration context, nothing else."""
