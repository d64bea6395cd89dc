"""The checks of safety and stratification find an error exactly where the engine refuses the rules."""

from __future__ import annotations

import re
from random import Random

import pytest

from gdl.checks import check
from gdl.diagnostics import Source
from gdl.engines import make_game
from gdl.errors import LimitExceeded, StratificationError, UnsafeRuleError
from gdl.language.rules import read_rules
from tests.kit.gdl.programs import rule_file

CODES = {"gdl/unsafe-variable": UnsafeRuleError, "gdl/negative-cycle": StratificationError}


def mistaken(text: str, random: Random) -> str:
    """Return *text* with one of its conditions, or the name of one, exchanged for another."""
    places = list(re.finditer(r"(?<=[^=] )\((?:d|e|p|q|s|u|true) [^()]*\)", text))
    place = random.choice(places)
    instead = random.choice(places)[0] if random.random() < 0.5 else f"(u {random.choice(('a', '?x', '?w'))})"
    return text[: place.start()] + instead + text[place.end() :]


def refusal(text: str) -> type[Exception] | None:
    """Return with which error the engine refuses the rules, if it does."""
    try:
        make_game(read_rules(text))
    except (UnsafeRuleError, StratificationError) as error:
        return type(error)
    except LimitExceeded:
        return None
    return None


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", range(120))
def test_an_error_is_found_where_the_engine_refuses(seed: int) -> None:
    random = Random(seed)
    text = rule_file(seed)
    for _ in range(seed % 4):
        text = mistaken(text, random)
    found = {CODES[one.code.name] for one in check(Source("random.kif", text)) if one.code.name in CODES}
    refused = refusal(text)
    assert (refused in found) if refused else not found, text
