"""Credits a customer was given, as the shop answers them. Pure.

Source: AC-02 (billing events), apis.md §1.10; shopify.dev StoreCreditAccount, 2026-10.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from shared.adapters.shopify.amounts import MoneyNode, to_money
from shared.adapters.shopify.operations import Answer, Connection, Operation
from shared.adapters.shopify.shops import from_gid
from shared.domain.sources import BillingEvent

MAX_ACCOUNTS: Final = 5
"""Store credit accounts read of one customer, one a currency. Value ours."""
MAX_CREDITS: Final = 50
"""Newest transactions read of one account. Value ours."""


class _CreditNode(Answer):
    id: str = ""
    """Empty for a transaction that is no credit."""
    created_at: datetime | None = None
    amount: MoneyNode | None = None


class _AccountNode(Answer):
    transactions: Connection[_CreditNode]


class _OwnerNode(Answer):
    store_credit_accounts: Connection[_AccountNode]


class CreditsAnswer(Answer):
    """A customer's accounts; no customer where the app may not see them."""

    customer: _OwnerNode | None = None


CREDITS: Final = Operation(
    "storeCredits",
    f"query Credits($id: ID!) {{ customer(id: $id) {{ storeCreditAccounts(first: {MAX_ACCOUNTS}) {{ nodes {{"
    f" transactions(first: {MAX_CREDITS}, reverse: true) {{ nodes {{ ... on StoreCreditAccountCreditTransaction"
    " { id createdAt amount { amount currencyCode } } } } } } } }",
    CreditsAnswer,
    cost=60.0,
)


def to_credit_events(answer: CreditsAnswer, since: datetime) -> Iterable[BillingEvent]:
    """Yield the credits given since the moment. Raises: IntegrationError for an amount that is none."""
    for account in answer.customer.store_credit_accounts.nodes if answer.customer else ():
        for credit in account.transactions.nodes:
            if credit.id and credit.amount and credit.created_at and credit.created_at >= since:
                yield BillingEvent(
                    event_id=from_gid(credit.id),
                    kind="credit",
                    amount=to_money(credit.amount.amount, credit.amount.currency_code),
                    at=credit.created_at,
                )
