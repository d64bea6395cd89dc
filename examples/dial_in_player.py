"""A player that dials in and plays at random, in nothing but Python's standard library; docs/dial-in.md explains it.

python dial_in_player.py http://127.0.0.1:9148 NAME [TOKEN]
"""

import http.client
import json
import random
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
URL, NAME, *TOKEN = sys.argv[1:]
HEADERS = {"Accept": "application/x-ndjson", "Content-Type": "application/json"}
if TOKEN:
    HEADERS["Authorization"] = f"Bearer {TOKEN[0]}"


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    return urlopen(Request(f"{URL}/api/v1/players{path}", data, HEADERS), timeout=45)


def refusal(error):
    """Return what the server says in its error, or what came in place of it."""
    try:
        return json.load(error)["error"]["message"]
    except (OSError, ValueError, KeyError, TypeError):
        return f"HTTP status {error.code}"


def reply_to(request):
    if "answered" in request:
        return request["answered"]
    return random.choice(request["legalMoves"]) if request["message"] == "PLAY" else "ready"


def note(word):
    """Say whether there is a connection, or why there is none, when that has changed."""
    if word != note.last:
        print(word, file=sys.stderr)
    note.last = word


note.last = ""


def answer(request):
    try:
        ask(f"/{NAME}/replies", {"request": request["request"], "text": reply_to(request)}).close()
    except HTTPError as error:
        if error.code not in (404, 409):  # too late, or answered before: the match goes on
            raise


def play():
    with ask(f"/{NAME}/requests") as stream:
        note("connected")
        for event in (json.loads(line) for line in stream if line.strip()):
            if event["event"] == "request":
                request = event["data"]
                answer(request)
            elif event["event"] == "replaced":
                sys.exit("another program plays as this player now")


try:
    ask("", {"name": NAME}).close()
except HTTPError as error:
    if error.code != 409:  # 409: it is registered already
        sys.exit(f"{URL} refuses the player {NAME}: {refusal(error)}")
except (OSError, ValueError, http.client.HTTPException) as error:
    sys.exit(f"{URL} cannot be reached: {getattr(error, 'reason', error)}")
while True:
    try:
        play()
    except HTTPError as error:
        if error.code < 500:  # dialling again would change nothing
            sys.exit(f"{URL} refuses the player {NAME}: {refusal(error)}")
        note(f"{error}; dialling again")
    except (OSError, http.client.HTTPException) as error:
        note(f"{error}; dialling again")
    time.sleep(1)
