"""Settings from the environment: what is secret stays out of sight, what is a list is one."""

import pytest

from shared.domain.errors import SchemaError
from shared.settings import from_environment


@pytest.mark.req("SH-01", "PV-05")
def test_client_secrets_are_two_at_most_and_never_shown() -> None:
    """A rotation needs the old and the new one."""
    settings = from_environment({"VOUCH_SHOPIFY_CLIENT_SECRETS": "hush-one , hush-two,"})

    assert settings.shopify_client_secrets == ("hush-one", "hush-two")
    assert "hush" not in repr(settings)
    with pytest.raises(SchemaError) as refused:
        from_environment({"VOUCH_SHOPIFY_CLIENT_SECRETS": "hush-a,hush-b,hush-c"})
    assert "hush" not in str(refused.value)


@pytest.mark.req("SH-01")
def test_the_client_secret_signs_unless_a_rotation_says_otherwise() -> None:
    """One setting is enough; without any, nothing is signed."""
    assert from_environment({"VOUCH_SHOPIFY_CLIENT_SECRET": "one"}).shopify_client_secrets == ("one",)
    assert from_environment({}).shopify_client_secrets == ()


@pytest.mark.req("HD-01")
def test_listed_origins_reach_the_transport() -> None:
    """Fault 037: an explicit list per deployment."""
    settings = from_environment({"VOUCH_INTEGRATION_ORIGINS": "https://desk.internal:8443, http://10.0.0.5"})

    assert settings.integration_origins == ("https://desk.internal:8443", "http://10.0.0.5")
