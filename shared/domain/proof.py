"""What tells a verified grant from a claimed one. Imported by the verifier and the type it makes, by nothing else."""

from typing import Final

PROOF: Final = object()
"""Identity is the proof: it cannot be sent, stored or guessed."""
