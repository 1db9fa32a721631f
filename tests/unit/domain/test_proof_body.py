"""What vouches for a turn: sentences with versions, spans and hashes; verdicts; actions with who approved them."""

from datetime import UTC, datetime

import pytest

from shared.domain.actions import Action, ActionState, RefundProposal
from shared.domain.article import Article
from shared.domain.deltas import ActionResult, ActionStatus, TurnState
from shared.domain.drafts import ApprovedReply, Check, CheckVerdict, Draft, Review, SentenceKind, draft_hash
from shared.domain.ids import ArticleId, CaseId, ConversationId, CustomerId, MessageId, OrderId, TenantId, digest
from shared.domain.intents import ActionType, ArticleType
from shared.domain.proof_body import grant_hash, proof_of
from shared.domain.sources import Profile
from shared.domain.spans import Span
from shared.domain.text import MaskedText, PublishedText
from tests.unit.supervisor.turns import RETURNS, article, claim, draft, order, plain, turn

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CONTENT = "<h2>Returns</h2>\n<p>You can return <b>unworn</b> items within 30&nbsp;days. Gift cards are final.</p>"
QUOTED = "You can return unworn items within 30 days."
PINNED = Article(
    article_id=ArticleId("returns"),
    tenant_id=TenantId("t1"),
    version=3,
    type=ArticleType.POLICY,
    title=PublishedText("Returns and refunds"),
    content=PublishedText(CONTENT),
    updated_at=AT,
)


def approved(given: Draft, *, reason: str = "") -> ApprovedReply:
    """Return the draft as the supervisor approves it."""
    verdicts = tuple(CheckVerdict(check=check, is_passed=True, reason=reason) for check in Check)
    return ApprovedReply(draft=given, review=Review(draft_hash=draft_hash(given), verdicts=verdicts), scope="", seal="")


def refund(status: ActionStatus, action_id: str = "a1") -> ActionResult:
    """Return a refund as the turn shows it."""
    return ActionResult(
        type="refund", status=status, action_id=action_id, order_id=OrderId("1001"), amount_minor=500, currency="USD"
    )


def stored(**update: object) -> Action:
    """Return the refund as it is stored, approved by a person."""
    action = Action(
        id="action:a1",
        tenant_id=TenantId("t1"),
        customer_id=CustomerId("ana"),
        action_id="a1",
        type=ActionType.REFUND,
        ordinal=1,
        proposal=RefundProposal(order_id=OrderId("1001")),
        state=ActionState.EXECUTED,
        policy_version=4,
        conversation_id=ConversationId("c1"),
        message_id=MessageId("m1"),
        approved_by="person:eva",
        approved_at=AT,
        grant_id="g-secret",
        requested_at=AT,
        updated_at=AT,
        expires_at=AT,
    )
    return action.model_copy(update=update)


@pytest.mark.req("CO-03", "KB-10")
def test_a_quoted_sentence_is_proven_by_its_span_and_the_hash_of_it() -> None:
    """Article, version, characters, hash: whoever holds the version can check each."""
    state = turn(articles=[article(QUOTED)])

    body = proof_of(state, approved=approved(draft(claim(QUOTED))), pinned={RETURNS: PINNED})

    (source,) = body.sentences[0].sources
    assert source.span is not None
    cited = source.span.of(CONTENT)
    assert cited == "You can return <b>unworn</b> items within 30&nbsp;days."
    assert (source.ref, source.version, source.title) == (RETURNS, 3, "Returns and refunds")
    assert source.text_hash == digest(cited)


@pytest.mark.req("KB-10")
def test_a_sentence_no_passage_says_is_proven_by_the_hash_of_the_whole_version() -> None:
    """A frame around a typed attribute stands in no content."""
    state = turn(articles=[article(QUOTED, price="12.00")])

    body = proof_of(state, approved=approved(draft(claim("It costs $12.00."))), pinned={RETURNS: PINNED})

    (source,) = body.sentences[0].sources
    assert (source.span, source.text_hash) == (None, digest(CONTENT))


@pytest.mark.req("KB-10")
def test_a_version_that_cannot_be_read_is_named_without_a_hash() -> None:
    """The reply was pinned to it all the same."""
    body = proof_of(turn(articles=[article(QUOTED)]), approved=approved(draft(claim(QUOTED))))

    (source,) = body.sentences[0].sources
    assert (source.title, source.version, source.span, source.text_hash) == ("Returns", 3, None, "")


@pytest.mark.req("CO-03", "AC-01")
def test_a_record_is_proven_by_the_hash_of_what_was_read() -> None:
    """Orders and profiles have no versions; what the turn saw is fixed by its hash."""
    profile = Profile(customer_id=CustomerId("ana"), name="Ana")
    state = turn(orders=[order("1001"), order("1002", status="delivered")])
    assert state.account is not None
    state = state.model_copy(update={"account": state.account.model_copy(update={"profile": profile})})
    sentences = draft(claim("It is shipped.", "order:1001", "profile:ana", "order:9999"))

    (sentence,) = proof_of(state, approved=approved(sentences)).sentences

    shipped, known, absent = sentence.sources
    assert shipped.text_hash == digest(order("1001").model_dump_json())
    assert known.text_hash == digest(profile.model_dump_json())
    assert (absent.text_hash, absent.version) == ("", None)


@pytest.mark.req("SU-01", "PR-01")
def test_every_verdict_is_kept_with_its_reason() -> None:
    """Source: design §7 ("every check's verdict")."""
    body = proof_of(turn(), approved=approved(draft(plain("Hello!")), reason="looked at it"))

    assert body.is_approved
    assert {(v.check, v.is_passed, v.reason) for v in body.verdicts} == {(c, True, "looked at it") for c in Check}
    assert [s.kind for s in body.sentences] == [SentenceKind.SOCIAL]


@pytest.mark.req("ME-06", "SU-02")
def test_a_fixed_text_is_proven_as_ours_beside_what_kept_the_draft_back() -> None:
    """A handoff after failed reviews: the notice that was sent, the verdicts that stopped the draft."""
    failed = CheckVerdict(check=Check.GROUNDING, is_passed=False, reason="a value is not in the cited source")
    state = turn(draft=draft(claim("60 days."))).model_copy(
        update={"review": Review(draft_hash="x", verdicts=(failed,))}
    )

    body = proof_of(state, told=MaskedText("A colleague takes over."), language="en")

    assert not body.is_approved
    assert [(s.text.value, s.kind, s.sources) for s in body.sentences] == [
        ("A colleague takes over.", SentenceKind.NOTICE, ())
    ]
    assert body.verdicts == (failed,)
    assert body.language == "en"


@pytest.mark.req("AX-02", "ME-06")
def test_an_action_is_proven_with_its_decision_its_approval_and_its_grants_hash() -> None:
    """The grant's id itself stays out: until it is consumed it is a secret."""
    state = turn().model_copy(
        update={
            "decisions": (refund(ActionStatus.IN_PROGRESS), refund(ActionStatus.PENDING_APPROVAL, "a2")),
            "actions": (refund(ActionStatus.EXECUTED),),
        }
    )

    body = proof_of(state, told=MaskedText("Done."), actions=(stored(),))

    done, waiting = body.actions
    assert (done.decided, done.status) == (ActionStatus.IN_PROGRESS, ActionStatus.EXECUTED)
    assert (done.approved_by, done.approved_at) == ("person:eva", AT)
    assert (done.amount_minor, done.currency, done.order_id) == (500, "USD", "1001")
    assert done.grant_hash == grant_hash("g-secret") != ""
    assert "g-secret" not in body.model_dump_json()
    assert (waiting.status, waiting.approved_by, waiting.grant_hash) == (ActionStatus.PENDING_APPROVAL, "", "")


@pytest.mark.req("AX-02")
def test_an_action_that_never_ran_has_no_grant() -> None:
    """Pending at the desk."""
    waiting = refund(ActionStatus.PENDING_APPROVAL).model_copy(update={"case_id": CaseId("ac-1")})
    state = turn().model_copy(update={"decisions": (waiting,)})

    (action,) = proof_of(state, actions=(stored(grant_id="", approved_by="", state=ActionState.PENDING),)).actions

    assert (action.grant_hash, action.approved_by, action.case_id) == ("", "", "ac-1")


@pytest.mark.req("ME-06")
def test_a_turn_without_words_has_an_empty_proof() -> None:
    """And still names the policy in force."""
    state: TurnState = turn()

    body = proof_of(state)

    assert (body.sentences, body.verdicts, body.actions) == ((), (), ())
    assert body.policy_version == state.snapshot.policy_version


def test_a_span_is_cut_from_the_text_it_was_found_in() -> None:
    """Start included, end not."""
    assert Span(start=1, end=3).of("abcd") == "bc"
