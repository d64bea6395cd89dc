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

URL, NAME, *TOKEN = sys.argv[1:]
HEADERS = {"Accept": "application/x-ndjson", "Content-Type": "application/json"}
if TOKEN:
    HEADERS["Authorization"] = f"Bearer {TOKEN[0]}"


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    return urlopen(Request(f"{URL}/api/v1/players{path}", data, HEADERS), timeout=45)


def reply_to(letter):
    if "answered" in letter:
        return letter["answered"]
    return random.choice(letter["legalMoves"]) if letter["message"] == "PLAY" else "ready"


def play():
    with ask(f"/{NAME}/letters") as stream:
        for event in (json.loads(line) for line in stream if line.strip()):
            if event["event"] == "letter":
                letter = event["data"]
                ask(f"/{NAME}/replies", {"letter": letter["letter"], "text": reply_to(letter)}).close()
            elif event["event"] == "replaced":
                sys.exit("another program plays as this player now")


try:
    ask("", {"name": NAME}).close()
except HTTPError as error:
    if error.code != 409:  # 409: it is registered already
        sys.exit(error.read().decode())
while True:
    try:
        play()
    except (OSError, http.client.HTTPException) as error:
        print(f"{error}; dialling again", file=sys.stderr)
    time.sleep(1)
