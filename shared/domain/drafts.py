"""A reply on its way to the customer: sentences with sources, checks with verdicts, and the approved form.

Only an ApprovedReply can be sent, and it exists only when every required check passed. Source: CO-03, SU-01…03.
"""

from enum import StrEnum
from typing import Final

from pydantic import Field

from shared.domain.errors import AuthorityError
from shared.domain.ids import SourceRef, digest
from shared.domain.text import MaskedText
from shared.domain.wire_model import Wire


class SentenceKind(StrEnum):
    """What a sentence does; a claim must be supported by its sources, the others may state no fact."""

    CLAIM = "claim"
    SOCIAL = "social"
    QUESTION = "question"
    NOTICE = "notice"
    """A fixed text of ours: AI notice, handoff notice, how to reach a person."""


class Sentence(Wire):
    """One sentence of a reply and the sources that vouch for it."""

    text: MaskedText
    kind: SentenceKind
    refs: tuple[SourceRef, ...] = ()


class Draft(Wire):
    """A composed, unreviewed reply. Nothing that sends accepts one."""

    sentences: tuple[Sentence, ...] = Field(min_length=1)
    language: str
    """BCP 47 tag of the reply."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    is_flagged: bool = False
    """Low confidence (CO-03)."""

    @property
    def text(self) -> MaskedText:
        """The sentences joined as the customer would read them."""
        return MaskedText(" ".join(s.text.value for s in self.sentences))

    @property
    def refs(self) -> tuple[SourceRef, ...]:
        """Every source cited, once, in order of first use."""
        return tuple(dict.fromkeys(ref for s in self.sentences for ref in s.refs))


class Check(StrEnum):
    """The supervisor's checks; all are required for approval (SU-01, SU-03)."""

    GROUNDING = "grounding"
    POLICY = "policy"
    SAFETY = "safety"
    TONE = "tone"
    LANGUAGE = "language"


REQUIRED_CHECKS: Final = frozenset(Check)
"""No approval without a passing verdict of each. Source: SU-03."""


class CheckVerdict(Wire):
    """One check's outcome; `reason` names what failed without quoting customer text."""

    check: Check
    is_passed: bool
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Typed values or refs concerned, for the composer's revision and for the proof."""


class Review(Wire):
    """All verdicts on one draft."""

    draft_hash: str
    verdicts: tuple[CheckVerdict, ...]
    confidence: float = Field(default=0.0, ge=0, le=1)

    @property
    def is_approved(self) -> bool:
        """True only when every required check is present and passed: a missing verdict blocks."""
        return {v.check for v in self.verdicts} >= REQUIRED_CHECKS and all(v.is_passed for v in self.verdicts)

    @property
    def failures(self) -> tuple[CheckVerdict, ...]:
        """The verdicts that did not pass."""
        return tuple(v for v in self.verdicts if not v.is_passed)


def draft_hash(draft: Draft) -> str:
    """Return the hash that ties a review and an approval to exactly these sentences and sources."""
    return digest(draft.language, *(part for s in draft.sentences for part in (s.text.value, s.kind, *s.refs)))


class ApprovedReply(Wire):
    """A reply every required check has passed, sealed by the supervisor for one turn.

    The seal (HMAC by shared.authority) is verified by whoever delivers; building one by hand gives no valid seal.
    """

    draft: Draft
    review: Review
    scope: str
    """`tenant|conversation|seq` the approval is for."""
    seal: str

    def model_post_init(self, context: object) -> None:
        """Refuse to exist without a full approval of exactly this draft.

        Raises: AuthorityError (fail closed).
        """
        if not self.review.is_approved or self.review.draft_hash != draft_hash(self.draft):
            raise AuthorityError("a reply needs every check's approval of exactly this draft")
