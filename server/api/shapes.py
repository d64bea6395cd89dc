"""Shapes that several parts of the API share, as pydantic models: camel case outside, nothing unknown taken."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
MatchId: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Ms: TypeAlias = Annotated[int, Field(description="milliseconds since 1970")]


class Asked(BaseModel):
    """What somebody sends."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)


class Told(BaseModel):
    """What somebody is told; keys that are left out are not known, or not public yet."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True)


class Open(Told):
    """What somebody is told, with keys that are described elsewhere."""

    model_config = ConfigDict(extra="allow")


def kept(value: dict[str, Any]) -> dict[str, Any]:
    """Return *value* without what is None: keys that are left out."""
    return {name: one for name, one in value.items() if one is not None}
