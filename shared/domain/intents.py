"""The eighteen intents and what each needs: knowledge, account data, which proposals it may lead to.

One table, total over the enum, read by routing and retrieval; nothing here decides.
Source: CL-01, design §4 "Routing", S1 step 2.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class CustomerIntent(StrEnum):
    """S1's eighteen classes; `admin_assistance` is reachable only through an admin-authenticated flow."""

    ORDER_STATUS = "order_status"
    ORDER_CHANGE = "order_change"
    ORDER_CANCEL = "order_cancel"
    SHIPPING_INFO = "shipping_info"
    DELIVERY_PROBLEM = "delivery_problem"
    RETURN_EXCHANGE = "return_exchange"
    REFUND = "refund"
    PRODUCT_QUESTION = "product_question"
    PRODUCT_RECOMMENDATION = "product_recommendation"
    PRICING_PROMOTION = "pricing_promotion"
    PAYMENT_ISSUE = "payment_issue"
    BILLING_DISPUTE = "billing_dispute"
    ACCOUNT_ACCESS = "account_access"
    ACCOUNT_MANAGEMENT = "account_management"
    COMPLAINT = "complaint"
    HUMAN_AGENT = "human_agent"
    GENERAL_INQUIRY = "general_inquiry"
    ADMIN_ASSISTANCE = "admin_assistance"


CUSTOMER_FACING: Final = tuple(i for i in CustomerIntent if i is not CustomerIntent.ADMIN_ASSISTANCE)
"""The seventeen intents a customer's message can have. Source: CL-01."""


class ArticleType(StrEnum):
    """The three kinds of knowledge. Source: KB-01."""

    PRODUCT = "product"
    FAQ = "faq"
    POLICY = "policy"


class ActionType(StrEnum):
    """What an executor can be asked to do. Source: AX-01 and the governance issue."""

    REFUND = "refund"
    CREDIT = "credit"
    REQUEST_RETURN = "request_return"
    CANCEL_ORDER = "cancel_order"
    CHANGE_ADDRESS = "change_address"
    RESEND = "resend"
    TICKET_UPDATE = "ticket_update"
    CRM_NOTE = "crm_note"


@dataclass(frozen=True, slots=True)
class IntentNeeds:
    """One row: what a turn with this intent needs before it may be answered."""

    needs_knowledge: bool
    """An answer without a sufficiently confident article is suppressed (RT-06)."""
    needs_account: bool
    """The customer's own records (orders, billing) can answer it (RT-04)."""
    may_propose: tuple[ActionType, ...]
    sources: tuple[ArticleType, ...]
    """Kinds of article searched first (CL-04)."""
    adjacent: tuple["CustomerIntent", ...] = ()
    """Neighbours whose sources join when the composer is unsure (KB-12)."""
    is_billing: bool = False
    """Pulls 90 days of billing events (AC-02)."""


_P, _F, _Y = ArticleType.PRODUCT, ArticleType.FAQ, ArticleType.POLICY
_I = CustomerIntent
_A = ActionType

# fmt: off
NEEDS: Final[dict[CustomerIntent, IntentNeeds]] = {
    _I.ORDER_STATUS: IntentNeeds(False, True, (), (_Y, _F), (_I.SHIPPING_INFO, _I.DELIVERY_PROBLEM)),
    _I.ORDER_CHANGE: IntentNeeds(False, True, (_A.CHANGE_ADDRESS,), (_Y, _F), (_I.ORDER_CANCEL, _I.SHIPPING_INFO)),
    _I.ORDER_CANCEL: IntentNeeds(False, True, (_A.CANCEL_ORDER,), (_Y, _F), (_I.REFUND, _I.ORDER_CHANGE)),
    _I.SHIPPING_INFO: IntentNeeds(True, False, (), (_Y, _F), (_I.ORDER_STATUS,)),
    _I.DELIVERY_PROBLEM: IntentNeeds(False, True, (_A.RESEND, _A.REFUND), (_Y, _F), (_I.ORDER_STATUS,)),
    _I.RETURN_EXCHANGE: IntentNeeds(True, False, (_A.REQUEST_RETURN,), (_Y, _F), (_I.REFUND,)),
    _I.REFUND: IntentNeeds(True, True, (_A.REFUND,), (_Y, _F), (_I.RETURN_EXCHANGE,), is_billing=True),
    _I.PRODUCT_QUESTION: IntentNeeds(True, False, (), (_P, _F, _Y), (_I.PRODUCT_RECOMMENDATION, _I.PRICING_PROMOTION)),
    _I.PRODUCT_RECOMMENDATION: IntentNeeds(True, False, (), (_P, _F), (_I.PRODUCT_QUESTION,)),
    _I.PRICING_PROMOTION: IntentNeeds(True, False, (), (_P, _F, _Y), (_I.PRODUCT_QUESTION,)),
    _I.PAYMENT_ISSUE: IntentNeeds(True, False, (), (_Y, _F), (_I.BILLING_DISPUTE,), is_billing=True),
    _I.BILLING_DISPUTE: IntentNeeds(False, True, (_A.REFUND, _A.CREDIT), (_Y, _F), (_I.REFUND,), is_billing=True),
    _I.ACCOUNT_ACCESS: IntentNeeds(True, False, (), (_F, _Y), (_I.ACCOUNT_MANAGEMENT,)),
    _I.ACCOUNT_MANAGEMENT: IntentNeeds(True, False, (), (_F, _Y), (_I.ACCOUNT_ACCESS,)),
    _I.COMPLAINT: IntentNeeds(True, False, (_A.CRM_NOTE,), (_Y, _F), (_I.DELIVERY_PROBLEM, _I.REFUND)),
    _I.HUMAN_AGENT: IntentNeeds(False, False, (), (), ()),
    _I.GENERAL_INQUIRY: IntentNeeds(True, False, (), (_F, _Y, _P), (_I.PRODUCT_QUESTION, _I.SHIPPING_INFO)),
    _I.ADMIN_ASSISTANCE: IntentNeeds(True, False, (), (_F, _Y), ()),
}
# fmt: on
"""Design §4: one row an intent; tests/architecture proves it total."""

ISSUE_INTENTS: Final = frozenset(
    {
        _I.ORDER_STATUS,
        _I.ORDER_CHANGE,
        _I.ORDER_CANCEL,
        _I.DELIVERY_PROBLEM,
        _I.RETURN_EXCHANGE,
        _I.REFUND,
        _I.PAYMENT_ISSUE,
        _I.BILLING_DISPUTE,
        _I.ACCOUNT_ACCESS,
        _I.COMPLAINT,
    }
)
"""Intents that are a problem to be solved: coming a third time with the same one brings a person (GO-03, fault 015)."""
