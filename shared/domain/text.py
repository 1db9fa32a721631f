"""Text with a proof in its type: what a model may see, what was published, what a customer may be sent.

A plain `str` is raw and hostile. Models accept MaskedText or PublishedText; senders accept ApprovedReply.
Source: S1 "PII protection" (PV-01), S1 step 6 (SU-03).
"""

from dataclasses import dataclass

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class _Text:
    """A string whose type says where it has been; on the wire it is the bare string."""

    value: str

    def __str__(self) -> str:
        return self.value

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def to_text(value: object) -> "_Text":
            if isinstance(value, cls):
                return value
            if type(value) is str:
                return cls(value)
            raise ValueError(f"expected text or {cls.__name__}")

        return core_schema.no_info_plain_validator_function(
            to_text,
            json_schema_input_schema=core_schema.str_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda text: text.value),
        )


@dataclass(frozen=True, slots=True)
class MaskedText(_Text):
    """Customer text whose e-mail addresses and phone numbers are tokens; made by shared.privacy.masking only."""


@dataclass(frozen=True, slots=True)
class PublishedText(_Text):
    """Text the merchant published (articles, policies): not personal, still not to be obeyed."""


ModelText = MaskedText | PublishedText
"""What a model may be shown."""
