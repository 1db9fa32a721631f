"""Text from outside that must leave no trace: masked, its mappings dropped at once.

For calls that ask a model something and store nothing: search and single agents. Source: PV-01, PR-05.
"""

from orchestrators.triggers.contract import Call
from shared.domain.text import MaskedText
from shared.privacy.masking import mask
from shared.privacy.normalise import clean_input
from shared.privacy.patterns import canonical_contacts


def mask_outside(call: Call, text: str) -> MaskedText:
    """Return the text cleaned and masked under the tenant's policy; nobody can restore it. Raises: SchemaError."""
    policy = call.policy
    return mask(
        clean_input(text),
        regions=policy.phone_regions,
        exempt=exempt_contacts(call),
        known={},
        new_token=call.services.ids.new_id,
    ).text


def exempt_contacts(call: Call) -> frozenset[str]:
    """Return the merchant's own published contacts, which stay readable (PV-01)."""
    return canonical_contacts(call.policy.published_contacts, regions=call.policy.phone_regions)
