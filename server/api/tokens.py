"""The API of access: who one is, and the tokens of a server for those who administer it."""

from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from server.access.control import ACCESS, principal
from server.access.issuing import MAX_CHARACTERS, MAX_DAYS, MAX_NAME, MAX_NOTE, Issued, Issuing, read_class_list
from server.api.operation import Ms, Operations, RequestModel, ResponseModel, without_none
from server.principal import ROLE_WORDS, Role, role_named
from server.storage.rows import TokenRow

TOKENS: Final = "/api/v1/tokens"
_RoleWord = Annotated[str, Field(pattern=f"^({'|'.join(ROLE_WORDS)})$")]
_Days = Annotated[int | None, Field(ge=1, le=MAX_DAYS, description="for how long; without it until it is revoked")]
_Id = Annotated[str, Field(pattern="^[a-z0-9]{1,20}$")]
operations: Final = Operations("access")


class Me(ResponseModel):
    """Who one is."""

    name: str
    role: str
    token_id: str | None = None


class NewToken(RequestModel):
    """For whom a token is."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    role: _RoleWord = Role.PLAYER.word
    days: _Days = None
    note: Annotated[str, Field(max_length=MAX_NOTE)] = ""


class ClassText(RequestModel):
    """A class list: a name on each line, or CSV with a column `name`, and perhaps `role` and `note`."""

    names: Annotated[str, Field(max_length=MAX_CHARACTERS)]
    role: _RoleWord = Role.PLAYER.word
    days: _Days = None


class TokenAnswer(ResponseModel):
    """A token without its secret."""

    id: str
    name: str
    role: str
    note: str
    created_ms: Ms
    expires_ms: Ms | None = None
    revoked_ms: Ms | None = None
    used_ms: Ms | None = None


class IssuedAnswer(TokenAnswer):
    """A token with its text, which is sent this once."""

    token: str


class TokensAnswer(ResponseModel):
    """All tokens."""

    tokens: list[TokenAnswer]


class ClassAnswer(ResponseModel):
    """The tokens of those who had none."""

    tokens: list[IssuedAnswer]


@operations.get("/api/v1/me")
async def read_me(request: web.Request) -> Me:
    """Tell who one is, and what one may do."""
    who = principal(request)
    return Me(**without_none({"name": who.name, "role": who.role.word, "token_id": who.token_id}))


@operations.get(TOKENS, role=Role.ADMIN)
async def list_tokens(request: web.Request) -> TokensAnswer:
    """List all tokens, also those that open nothing any more."""
    return TokensAnswer(tokens=[TokenAnswer(**_shown(row)) for row in await _issuing(request).listed()])


@operations.post(TOKENS, role=Role.ADMIN, status=201, errors=("invalid_token", "no_admin"))
async def issue_token(request: web.Request, body: NewToken) -> IssuedAnswer:
    """Issue a token.

    With its first token a server on loopback demands one of everybody; so that one is an admin's.
    """
    return _issued_answer(await _issuing(request).issue(body.name, role_named(body.role), body.days, body.note))


@operations.post(f"{TOKENS}/class", role=Role.ADMIN, status=201, errors=("invalid_token", "unknown_role", "no_admin"))
async def issue_tokens_to_a_class(request: web.Request, body: ClassText) -> ClassAnswer:
    """Issue a token to everybody on a class list who has none; if something is wrong with it, issue none."""
    issued = await _issuing(request).issue_all(read_class_list(body.names), role_named(body.role), body.days)
    return ClassAnswer(tokens=[_issued_answer(each) for each in issued])


@operations.post(f"{TOKENS}/{{id}}/rotate", role=Role.ADMIN, errors=("unknown_token",))
async def rotate_token(request: web.Request, id: _Id) -> IssuedAnswer:  # noqa: A002 -- as the path calls it
    """Give a token a new secret; the old one is not valid any more, and its sessions end."""
    return _issued_answer(await _issuing(request).rotate(id))


@operations.delete(f"{TOKENS}/{{id}}", role=Role.ADMIN, status=204, errors=("unknown_token", "no_admin"))
async def revoke_token(request: web.Request, id: _Id) -> web.Response:  # noqa: A002 -- as the path calls it
    """Revoke a token."""
    await _issuing(request).revoke(id)
    return web.Response(status=204)


def _issuing(request: web.Request) -> Issuing:
    return request.app[ACCESS].issuing


def _issued_answer(issued: Issued) -> IssuedAnswer:
    return IssuedAnswer(token=str(issued.text), **_shown(issued.row))


def _shown(row: TokenRow) -> dict[str, Any]:
    names = ("id", "name", "role", "note", "created_ms", "expires_ms", "revoked_ms", "used_ms")
    return without_none({name: getattr(row, name) for name in names})
