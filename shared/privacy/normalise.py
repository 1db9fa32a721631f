"""What is done to a customer's text before it is stored, and before it is screened.

Two different texts: the stored one keeps what the customer wrote and only loses what no store, model or page can hold;
the screened one is flattened so that nothing hides from a safety check. The screened one is never stored or shown.
Source: design §9, GW-06, fault 034.
"""

import re
import unicodedata
from typing import Final

from shared.domain.errors import SchemaError

_LINE_ENDS: Final = re.compile("\r\n?|\u0085|\u2028|\u2029")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
"""C0 and C1 controls but newline and tab, and the two noncharacters XML and some stores refuse. Source: Unicode."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
"""Letters, marks and fillers that draw nothing, and the tag block. Source: Unicode Default_Ignorable_Code_Point."""


def clean_input(text: str) -> str:
    """Return inbound text as it is stored: line ends are newlines, control characters but newline and tab are gone.

    Joiners, emoji, direction marks and every letter stay as written; nothing is composed or decomposed.
    Raises: SchemaError for lone surrogates, which JSON escapes can smuggle in and UTF-8 cannot hold.
    Source: GW-06.
    """
    if _SURROGATES.search(text):
        raise SchemaError("text holds half of a surrogate pair: it is not valid Unicode")
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))


def for_screening(text: str) -> str:
    """Return the text a safety check reads: compatibility forms folded, everything invisible removed.

    Format characters (zero-width, direction, soft hyphen), tag letters, fillers, variation selectors and controls are
    removed; tag letters are also read out where they spell something, so that a message written in them is screened.
    Source: design §9 (NFKC, format and tag characters out), fault 034.
    """
    spelt = text.translate(_TAG_LETTERS)
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", spelt))
    return "".join(char for char in folded if char in "\n\t" or unicodedata.category(char) not in ("Cf", "Cc", "Cs"))


_TAG_LETTERS: Final = {0xE0000 + point: chr(point) for point in range(0x20, 0x7F)}
"""Tag letters by the ASCII letters they mirror: dropping them would hide an instruction a model can read. Fault 034."""
