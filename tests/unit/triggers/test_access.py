"""Who may enter a conversation."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrators.triggers.access import SECRET, Identity, may_enter, must_bind
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.ticket import Ticket

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANA, BEN = CustomerId("ana"), CustomerId("ben")


def ticket(customer: CustomerId | None = None, secret_hash: str = "", channel: str = "web") -> Ticket:
    """Return a conversation's ticket."""
    return Ticket(
        tenant_id=TenantId("t1"),
        conversation_id=ConversationId("c1"),
        customer_id=customer,
        secret_hash=secret_hash,
        channel=channel,
        opened_at=NOW,
        updated_at=NOW,
    )


def browser(customer: CustomerId | None = None, secret_hash: str = "") -> Identity:
    """Return what a publishable key's holder has proven."""
    return Identity(customer, secret_hash, is_tenant=False)


def server(customer: CustomerId | None = None) -> Identity:
    """Return what a secret key's holder stands for."""
    return Identity(customer, "", is_tenant=True)


ADMIN = Identity(None, "", is_tenant=False, is_admin=True)

TABLE = {
    "ana opens her own": (browser(ANA), ticket(ANA), True),
    "ben does not open ana's": (browser(BEN), ticket(ANA), False),
    "a visitor opens with the secret": (browser(secret_hash="h1"), ticket(secret_hash="h1"), True),
    "another secret does not open": (browser(secret_hash="h2"), ticket(secret_hash="h1"), False),
    "ana does not open a visitor's without its secret": (browser(ANA), ticket(secret_hash="h1"), False),
    "ana opens a visitor's proving both": (browser(ANA, "h1"), ticket(secret_hash="h1"), True),
    "the secret alone no longer opens once it is ana's": (browser(secret_hash="h1"), ticket(ANA, "h1"), False),
    "ben with the old secret does not open ana's": (browser(BEN, "h1"), ticket(ANA, "h1"), False),
    "no secret opens what has none": (browser(), ticket(), False),
    "a secret does not open what has none": (browser(secret_hash="h1"), ticket(), False),
    "the server opens any": (server(), ticket(ANA), True),
    "the server opens an anonymous one": (server(), ticket(secret_hash="h1"), True),
    "the server acting for ben does not open ana's": (server(BEN), ticket(ANA), False),
    "the server acting for ana opens ana's": (server(ANA), ticket(ANA), True),
    "admin opens the admin channel": (ADMIN, ticket(channel="admin"), True),
    "admin does not open a customer's": (ADMIN, ticket(ANA), False),
}


@pytest.mark.req("GW-03")
@pytest.mark.parametrize(("who", "of", "opens"), TABLE.values(), ids=TABLE.keys())
def test_only_these_proofs_open_a_conversation(who: Identity, of: Ticket, opens: bool) -> None:
    """Source: design §7 (identified, anonymous, anonymous → identified once, proving both)."""
    assert may_enter(who, of) is opens


@pytest.mark.req("GW-03")
def test_proving_both_binds_and_being_bound_binds_no_more() -> None:
    """Binding happens once."""
    assert must_bind(browser(ANA, "h1"), ticket(secret_hash="h1"))
    assert not must_bind(browser(ANA), ticket(ANA))
    assert not must_bind(browser(secret_hash="h1"), ticket(secret_hash="h1"))


@pytest.mark.req("GW-03")
@given(customer=st.sampled_from([None, "ana", "ben"]), secret=st.sampled_from(["", "h1", "h2"]))
def test_no_combination_of_a_browsers_proofs_opens_a_bound_conversation_but_its_customers(
    customer: str | None, secret: str
) -> None:
    """A law: of a bound conversation only the customer decides."""
    who = browser(CustomerId(customer) if customer else None, secret)

    assert may_enter(who, ticket(ANA, "h1")) is (customer == "ana")


@pytest.mark.req("GW-03")
@pytest.mark.parametrize(
    ("secret", "fits"),
    [
        ("a" * 43, True),
        ("a" * 42, False),
        ("A-_9" * 11, True),
        ("a" * 43 + "=", True),
        ("a" * 300, False),
        ("ä" * 43, False),
    ],
)
def test_a_conversation_secret_is_256_bits_of_url_safe_base64(secret: str, fits: bool) -> None:
    """Source: design §7."""
    assert bool(SECRET.fullmatch(secret)) is fits
