"""A match of a running server, followed by its stream of JSON events with nothing but Python's standard library.

python examples/watch_match.py http://127.0.0.1:9148 MATCH_ID [TOKEN]

The program connects again when the connection is lost, and misses no event; docs/api.md lists the events.
"""

import http.client
import json
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
SERVER_URL, MATCH_ID, *TOKEN = sys.argv[1:]
if not SERVER_URL.startswith(("http://", "https://")):
    sys.exit(f"{SERVER_URL} is no address of a server, as http://127.0.0.1:9148 is")
HEADERS = {"Accept": "application/x-ndjson"}
if TOKEN:
    HEADERS["Authorization"] = f"Bearer {TOKEN[0]}"
SILENCE_S = 45
RECONNECT_S = 1


def show(event, data):
    """Print *event*; moves and goals are in the order of the roles, and hidden ones are missing.

    An event has the number of the state in which moves are made, from 0; for people the first moves are step 1.
    """
    if event == "started":
        print(f"{data['matchId']}: {data['game']}, players {' '.join(data['players'])}")
    elif event == "step" and not data["isStart"]:
        print(f"step {data['step'] + 1}: {' '.join(data.get('moves', ['(hidden)']))}")
    elif event == "completed":
        print(f"goals: {' '.join(map(str, data['goals']))}")
    elif event in ("aborted", "failed"):
        print(f"{event}: {data['reason']}")


def refusal(error):
    """Return what the server says in its error, or what came in place of it."""
    try:
        return json.load(error)["error"]["message"]
    except (OSError, ValueError, KeyError, TypeError):
        return f"HTTP status {error.code}"


def follow(last_id):
    """Print the events after *last_id*; return the last one's id, and whether the match is over."""
    request = Request(f"{SERVER_URL}/api/v1/matches/{MATCH_ID}/events?after={last_id}", headers=HEADERS)
    try:
        with urlopen(request, timeout=SILENCE_S) as stream:
            for line in stream:
                if line.strip():  # a blank line only keeps the connection open
                    event = json.loads(line)
                    if event["event"] == "closed":
                        return last_id, True
                    show(event["event"], event["data"])
                    last_id = event["id"] or last_id
    except HTTPError as error:
        if error.code < 500:  # asking again would change nothing
            sys.exit(f"{SERVER_URL} refuses to show {MATCH_ID}: {refusal(error)}")
        print(f"{error}; connecting again", file=sys.stderr)
    except (OSError, ValueError, http.client.HTTPException) as error:
        print(f"{error}; connecting again", file=sys.stderr)
    return last_id, False


last_event_id, is_over = follow("-1")
while not is_over:
    time.sleep(RECONNECT_S)
    last_event_id, is_over = follow(last_event_id)
