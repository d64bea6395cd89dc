"""The command on the page of a player that dials in, run as it stands there."""

from __future__ import annotations

import html
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from server.links.own_player import package_environment
from tests.kit.polling import wait_until
from tests.kit.server.web.live_site import LIMIT_S, live_site

PLAYER = """
import players

class Mine(players.Player):
    def move(self, state, role, deadline):
        return state.legal_moves(role)[0]
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["mine", "Deep-blue_2.0"])
def test_the_command_on_its_page_connects_the_player(name: str, tmp_path: Path) -> None:
    (tmp_path / "my_player.py").write_text(PLAYER)
    with live_site(tmp_path) as site:
        site.ask(lambda: site.manager.registry.register(name, "local"))
        with urlopen(f"{site.url}/players/{name}") as page:
            shown = re.search(r"<code>(ggp player [^<]*)</code>", page.read().decode())
        assert shown is not None
        program, *words = shlex.split(html.unescape(shown[1]))
        assert program == "ggp"
        command = [sys.executable, "-m", "server", *words]
        with subprocess.Popen(command, cwd=tmp_path, env=package_environment()) as child:
            try:
                queues = site.manager.request_queues
                wait_until(lambda: queues.is_connected(name) or child.poll() is not None, LIMIT_S)
                assert queues.is_connected(name)
            finally:
                child.terminate()
