"""Which player a text specifies, the way to it and its name, and what is said where it specifies none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.errors import CallerError, UnknownNameError
from players.kit.worker import WorkerLimits
from server.links.addresses import AllowedAddresses
from server.links.child_player import ChildPlayer
from server.links.errors import ForbiddenTargetError, PlayerSpecError
from server.links.http_player import HttpPlayer
from server.links.own_player import InProcessPlayer, WorkerPlayer
from server.links.player_spec import OWN_PLAYERS, PlayerSpec, open_link, player_spec, public_player_spec
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.profiles import Profile
from server.match.setup import Seat
from server.storage.rows import SeatKind
from tests.kit.server.plays import LEFT

GRACE = Profile(grace_s=3)
ASKED = PlayerRequest("(PLAY m NIL)", "m")


@pytest.mark.parametrize(
    ("spec", "link", "kind"),
    [
        (PlayerSpec("legal", is_own=True), InProcessPlayer, SeatKind.OWN),
        (PlayerSpec("legal", is_own=True, worker_limits=WorkerLimits()), InProcessPlayer, SeatKind.OWN),
        (PlayerSpec("greedy", is_own=True, worker_limits=WorkerLimits()), WorkerPlayer, SeatKind.OWN),
        (PlayerSpec("cmd:sh", is_own=False), ChildPlayer, SeatKind.COMMAND),
        (PlayerSpec("cmd+legal:sh", is_own=False), ChildPlayer, SeatKind.COMMAND),
        (PlayerSpec("http://127.0.0.1:1", is_own=False), HttpPlayer, SeatKind.HTTP),
    ],
)
async def test_a_specification_leads_to_its_player(spec: PlayerSpec, link: type, kind: SeatKind) -> None:
    assert (type(await spec.open(LEFT)), spec.kind) == (link, kind)


async def test_a_worker_plays_what_was_named_within_its_limits() -> None:
    limits = WorkerLimits(300, 5)
    link = await PlayerSpec("greedy", is_own=True, worker_limits=limits).open(LEFT)
    assert isinstance(link, WorkerPlayer)
    settings = link._server.settings
    assert (settings.name, settings.max_matches, settings.worker_limits) == ("greedy", 1, limits)


@pytest.mark.parametrize("text", ["cmd:sh -c http://a:b", "cmd+legal:sh -c http://a:b"])
async def test_a_command_has_all_words_behind_the_first_colon(text: str) -> None:
    link = await player_spec(text).open(LEFT)
    assert isinstance(link, ChildPlayer)
    assert link._arguments == ("sh", "-c", "http://a:b")


async def test_an_address_from_the_network_leads_nowhere_that_may_not_be_called() -> None:
    link = await public_player_spec("http://127.0.0.1:1", AllowedAddresses()).open(LEFT)
    with pytest.raises(ForbiddenTargetError):
        await link.deliver(ASKED, ReplyBuffer())


async def test_a_player_at_an_address_is_called_by_its_host_and_port() -> None:
    link = await player_spec("http://127.0.0.1:1/path").open(LEFT)
    assert isinstance(link, HttpPlayer)
    assert "\r\nReceiver: 127.0.0.1:1\r\n" in link._head


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cmd:", "a program and its arguments expected"),
        ("cmd:'unbalanced", "No closing quotation"),
        ("cmd:no-such-program x:y", "there is no program no-such-program"),
        ("cmd:" + "x" * 300, "there is no program " + "x" * 300),
        ("cmd:{folder}/plain x", "{folder}/plain may not be executed: try chmod +x {folder}/plain"),
        ("cmd:ready x", "ready is in this folder, and not on the search path: write ./ready"),
        ("./ready --deep", "a program begins with cmd:, as in cmd:./ready --deep"),
        ("http://:80", "Invalid URL: host is required for absolute urls with the http scheme"),
        ("human", "a person plays with `ggp play`, or `ggp player human` in a terminal of its own"),
        ("host:80", "an address begins with http://, as in http://host:80"),
        ("http//host:80", "an address begins with http://, as in http://host:80"),
        ("http:/host:80/play", "an address begins with http://, as in http://host:80/play"),
        ("HTTP://host:80", "an address begins with http://, as in http://host:80"),
    ],
)
def test_what_is_no_player_is_refused_with_a_reason(
    text: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("")
    (tmp_path / "ready").touch(0o755)
    with pytest.raises(PlayerSpecError) as caught:
        player_spec(text.format(folder=tmp_path))
    assert (caught.value.spec, caught.value.reason) == (text.format(folder=tmp_path), reason.format(folder=tmp_path))


def test_what_no_link_leads_to_is_refused() -> None:
    with pytest.raises(PlayerSpecError) as caught:
        open_link("ftp://x", Seat(LEFT))
    assert (caught.value.spec, caught.value.reason) == ("ftp://x", "expected http://host:port, or cmd: and a program")


OURS = f"over HTTP a player is a registered one, an address (http://host:port), or one of {', '.join(OWN_PLAYERS)}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("cmd:a=b", PlayerSpecError("cmd:a=b", OURS)),
        ("cmd+legal:sh", PlayerSpecError("cmd+legal:sh", OURS)),
        ("folder/x.py", PlayerSpecError("folder/x.py", OURS)),
        ("mcst", UnknownNameError("player", "mcst", ["mcts"])),
        ("llm:log=1", PlayerSpecError("llm:log=1", "the server's environment must set GGP_LLM_URL and GGP_LLM_MODEL")),
        (
            "mcts:weights=file=5",
            PlayerSpecError("mcts:weights=file=5", "over HTTP its option weights takes a number, or True or False"),
        ),
        (
            "mcts:playouts=many",
            PlayerSpecError("mcts:playouts=many", "over HTTP its option playouts takes a number, or True or False"),
        ),
        (
            "mcts:engine=fast",
            PlayerSpecError("mcts:engine=fast", "engine is one of best, compiled, interpreter, python, not fast"),
        ),
    ],
)
def test_what_may_not_be_named_over_the_network_is_refused_in_words(
    text: str, error: CallerError, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GGP_LLM_URL", raising=False)
    monkeypatch.delenv("GGP_LLM_MODEL", raising=False)
    with pytest.raises(type(error)) as caught:
        public_player_spec(text)
    assert str(caught.value) == str(error)


@pytest.mark.parametrize("command", ["sh -c '{}'", "python3.99 -c '{}'"])
def test_a_program_within_a_command_may_be_longer_than_the_name_of_a_file(command: str) -> None:
    text = f"cmd:{command.format('x = 1; ' * 100)}"
    assert PlayerSpec(text, is_own=False).name == command.partition(" ")[0]


@pytest.mark.parametrize(
    ("command", "name"), [("sh --rcfile=x.sh bot.sh", "bot.sh"), ("sh --rcfile=x.sh", "sh"), ("a/sh bot.sh", "bot.sh")]
)
def test_a_command_is_called_by_the_file_that_its_interpreter_runs(command: str, name: str) -> None:
    assert PlayerSpec(f"cmd:{command}", is_own=False).name == name
