"""Which URLs a merchant may have us call, and which addresses count as public."""

import pytest

from shared.domain.errors import SchemaError
from shared.domain.outgoing_urls import check_url, is_public_address

GOOD = (
    "https://acme.zendesk.com/api/v2/tickets",
    "https://acme.zendesk.com",
    "https://acme.zendesk.com:443/x?y=1",
    "https://xn--bcher-kva.example/",
    "https://93.184.215.14/hook",
    "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hook",
)
BAD = {
    "the metadata service": "https://169.254.169.254/latest/meta-data",
    "http": "http://acme.zendesk.com/",
    "another port": "https://acme.zendesk.com:8443/",
    "another scheme": "gopher://acme.zendesk.com/",
    "a file": "file:///etc/passwd",
    "credentials": "https://acme.zendesk.com@10.0.0.1/",
    "an empty user": "https://@acme.zendesk.com/",
    "a fragment": "https://acme.zendesk.com/#@10.0.0.1",
    "a backslash": "https://acme.zendesk.com\\@10.0.0.1/",
    "a space": "https://acme.zendesk.com/a b",
    "a line end": "https://acme.zendesk.com/\r\nHost: x",
    "nothing": "",
    "no host": "https:///x",
    "a bare name": "https://localhost/",
    "a bare inner name": "https://metadata/",
    "an inner name": "https://desk.internal/",
    "loopback by name": "https://x.localhost/",
    "loopback": "https://127.0.0.1/",
    "loopback in short": "https://127.1/",
    "loopback as a number": "https://2130706433/",
    "loopback in hexadecimal": "https://0x7f.0.0.1/",
    "loopback in octal": "https://0177.0.0.1/",
    "loopback with a dot behind": "https://127.0.0.1./",
    "10.x": "https://10.1.2.3/",
    "172.16": "https://172.16.0.9/",
    "192.168": "https://192.168.1.1/",
    "carrier-grade": "https://100.64.0.1/",
    "this network": "https://0.0.0.0/",
    "broadcast": "https://255.255.255.255/",
    "multicast": "https://224.0.0.1/",
    "the platform's resolver": "https://168.63.129.16/",
    "IPv6 loopback": "https://[::1]/",
    "IPv6 link-local": "https://[fe80::1]/",
    "IPv6 unique local": "https://[fd00::1]/",
    "a mapped IPv4": "https://[::ffff:10.0.0.1]/",
    "a NAT64 IPv4": "https://[64:ff9b::a00:1]/",
    "a 6to4 IPv4": "https://[2002:a00:1::]/",
    "half an address": "https://[::1/",
    "a port that is none": "https://acme.zendesk.com:99999/",
    "other letters": "https://аcme.zendesk.com/",
    "too long": "https://acme.zendesk.com/" + "a" * 2_048,
}


@pytest.mark.req("HD-01")
@pytest.mark.parametrize("url", GOOD)
def test_a_public_https_address_may_be_saved(url: str) -> None:
    """Design §9."""
    assert check_url(url).url == url


@pytest.mark.req("HD-01")
@pytest.mark.parametrize("name", BAD)
def test_fault_037_what_leads_inside_is_refused_when_it_is_saved(name: str) -> None:
    """Private ranges in every spelling, other schemes and ports, disguised hosts; the URL is not repeated."""
    with pytest.raises(SchemaError) as refused:
        check_url(BAD[name])

    assert len(BAD[name]) < 3 or BAD[name] not in str(refused.value)


@pytest.mark.req("HD-01")
def test_fault_037_a_deployment_may_list_an_origin_of_its_own_network() -> None:
    """Exactly that origin: not another port, scheme, host or a longer name."""
    listed = ("https://desk.internal:8443", "http://10.0.0.5")

    assert check_url("https://desk.internal:8443/api", allowed_origins=listed).is_listed
    assert check_url("http://10.0.0.5/api", allowed_origins=listed).is_listed
    for near in (
        "https://desk.internal/api",
        "http://desk.internal:8443/api",
        "https://10.0.0.5/api",
        "http://10.0.0.50/api",
        "https://desk.internal:8443@10.0.0.6/api",
    ):
        with pytest.raises(SchemaError):
            check_url(near, allowed_origins=listed)


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("10.9.8.7", False),
        ("fe80::1%eth0", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("desk.example", False),
        ("", False),
    ],
)
def test_only_public_addresses_are_public(address: str, is_public: bool) -> None:
    """What cannot be read is not public."""
    assert is_public_address(address) is is_public
