"""The master key of the embedded host: one file that only its owner may read.

Implements KeyWrapper where there is no Key Vault. Never prints or copies the key; refuses a file others may read.
Source: design §6 row `vault_keys` ("a key file locally").
"""

import base64
import binascii
import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from shared.domain.errors import AuthorityError

FILE_MODE: Final = 0o600
"""Owner reads and writes, nobody else anything. POSIX mode bits."""
MASTER_KEY_BYTES: Final = 32
"""Bytes: AES-256. Source: NIST SP 800-38D."""
_NONCE_BYTES: Final = 12
_KEY_NAME_CHARS: Final = 12
"""Hex characters of the key's own name, a hash of it, so that a replaced file is told from a damaged row."""


class KeyFile:
    """A KeyWrapper whose master key lives in a file."""

    def __init__(self, path: Path) -> None:
        """Open the key file, making it on first use.

        Raises: AuthorityError when others may read the file, or when it does not hold a key.
        """
        self._key = _read(path) if path.exists() else _make(path)
        self._name = hashlib.sha256(b"vouch:master" + self._key).hexdigest()[:_KEY_NAME_CHARS]

    def __repr__(self) -> str:
        return f"KeyFile({self._name})"

    def derive(self, purpose: str) -> bytes:
        """Return 32 bytes for one purpose, the same for as long as the file is (HKDF-SHA-256, RFC 5869)."""
        kdf = HKDF(algorithm=SHA256(), length=MASTER_KEY_BYTES, salt=None, info=f"vouch:{purpose}".encode())
        return kdf.derive(self._key)

    async def wrap(self, key: bytes, *, bound_to: str) -> str:
        """Return the data key encrypted, as `{master key name}.{base64}`."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = AESGCM(self._key).encrypt(nonce, key, bound_to.encode())
        return f"{self._name}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"

    async def unwrap(self, wrapped: str, *, bound_to: str) -> bytes:
        """Return the data key. Raises: AuthorityError when it was wrapped by another key or for another place."""
        name, _, sealed = wrapped.partition(".")
        if name != self._name:
            raise AuthorityError(f"a data key was wrapped by master key {name!r}, this file holds {self._name!r}")
        try:
            raw = base64.urlsafe_b64decode(sealed)
            return AESGCM(self._key).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], bound_to.encode())
        except (InvalidTag, binascii.Error, ValueError) as error:
            raise AuthorityError(f"a wrapped data key does not belong to {bound_to!r}") from error


def _make(path: Path) -> bytes:
    """Write a fresh key whole or not at all; when another process was first, read theirs."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(MASTER_KEY_BYTES)))
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & ~FILE_MODE:
        raise AuthorityError(f"key file {path.name!r} has mode {mode:o}; only its owner may read it ({FILE_MODE:o})")
    try:
        key = base64.b64decode(path.read_bytes(), validate=True)
    except binascii.Error as error:
        raise AuthorityError(f"key file {path.name!r} holds no key") from error
    if len(key) != MASTER_KEY_BYTES:
        raise AuthorityError(f"key file {path.name!r} holds no key of {MASTER_KEY_BYTES} bytes")
    return key
