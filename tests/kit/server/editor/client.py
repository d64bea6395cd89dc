"""An editor of the simplest kind: it starts `ggp lsp`, asks by JSON-RPC, and waits for answers."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from tests.kit.server.processes import GGP, ROOT

Json: TypeAlias = Any
URI = "file:///rules/game.kif"
LIMIT_S = 60.0


class Refused(Exception):  # noqa: N818 -- the server says no; that is an answer
    """The server answered a request with an error: `code` and the message."""

    def __init__(self, error: Mapping[str, Json]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]


class Editor:
    """Speaks with the server `child`; `greeting` is its first answer, `log` what it says unasked."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child
        self.log: list[dict[str, Json]] = []
        self.greeting: Json = None
        self.text = ""
        self._version = 0
        self._n_requests = 0
        self._inbox: queue.Queue[dict[str, Json] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def request(self, method: str, parameters: Json = None) -> Json:
        """Return the server's answer."""
        self._n_requests += 1
        self.send({"id": self._n_requests, "method": method, "params": parameters})
        while (message := self.receive()).get("id") != self._n_requests:
            self.log.append(message)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def notify(self, method: str, parameters: Json = None) -> None:
        """Tell the server something."""
        self.send({"method": method, "params": parameters})

    def ask(self, method: str, place: str | int = 0, **more: Json) -> Json:
        """Ask about the open text; *place* is an offset, or a text that begins there."""
        offset = self.text.index(place) if isinstance(place, str) else place
        where = {"textDocument": {"uri": URI}, "position": position(self.text, offset)}
        return self.request(f"textDocument/{method}", where | more)

    def open(self, text: str) -> list[Json]:
        """Open *text* as the one document; return the diagnostics."""
        self.text = text
        item = {"uri": URI, "languageId": "gdl", "version": self._next_version(), "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.diagnostics()

    def change(self, text: str) -> None:
        """Have *text* stand in the document from now on."""
        self.text = text
        document = {"uri": URI, "version": self._next_version()}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def diagnostics(self) -> list[Json]:
        """Return the diagnostics of the present version, once they come."""
        while (found := self._published()) is None:
            self.log.append(self.receive())
        return found

    def shut_down(self) -> int:
        """End the server as editors do; return its exit code."""
        assert self.request("shutdown") is None
        self.notify("exit")
        return self.child.wait(LIMIT_S)

    def _published(self) -> list[Json] | None:
        for message in self.log:
            if message.get("method") == "textDocument/publishDiagnostics":
                said: dict[str, Json] = message["params"]
                if said.get("version") == self._version:
                    self.log.remove(message)
                    return list(said["diagnostics"])
        return None

    def _next_version(self) -> int:
        self._version += 1
        return self._version

    def send(self, message: dict[str, Json]) -> None:
        """Send a message as it is."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.child.stdin is not None
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.child.stdin.flush()

    def receive(self) -> dict[str, Json]:
        """Return the server's next message."""
        message = self._inbox.get(timeout=LIMIT_S)
        assert message is not None, "the server has ended"
        return message

    def _listen(self) -> None:
        stream = self.child.stdout
        assert stream is not None
        while header := stream.readline():
            length = re.fullmatch(rb"Content-Length: ([0-9]+)\r\n", header)
            if length:
                while stream.readline().strip():
                    pass
                self._inbox.put(json.loads(stream.read(int(length[1]))))
        self._inbox.put(None)


@contextmanager
def started(folder: Path, capabilities: Json = None) -> Iterator[Editor]:
    """Start a server and greet it; it is killed in the end if it is still there."""
    with subprocess.Popen(
        [*GGP, "lsp", "--stdio", "--delay", "0.01"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            editor = Editor(child)
            greeting = {"processId": None, "rootUri": None, "capabilities": capabilities or {}}
            editor.greeting = editor.request("initialize", greeting)
            editor.notify("initialized", {})
            yield editor
        finally:
            child.kill()


def position(text: str, offset: int) -> dict[str, int]:
    """Return the place of *offset* as the protocol counts it: lines, and columns in UTF-16."""
    before = text[:offset].split("\n")
    return {"line": len(before) - 1, "character": len(before[-1].encode("utf-16-le")) // 2}


def offset_of(text: str, place: Mapping[str, int]) -> int:
    """Return the offset of a place of the protocol."""
    lines = text.split("\n")
    line = lines[place["line"]].encode("utf-16-le")[: 2 * place["character"]]
    return sum(len(before) + 1 for before in lines[: place["line"]]) + len(line.decode("utf-16-le"))


def pointed_at(text: str, place: Mapping[str, Mapping[str, int]]) -> str:
    """Return what stands in a range of the protocol."""
    return text[offset_of(text, place["start"]) : offset_of(text, place["end"])]


def applied(text: str, edits: list[Json]) -> str:
    """Return *text* after *edits* of the protocol."""
    for edit in sorted(edits, key=lambda edit: -offset_of(text, edit["range"]["start"])):
        start, end = (offset_of(text, edit["range"][side]) for side in ("start", "end"))
        text = text[:start] + edit["newText"] + text[end:]
    return text
