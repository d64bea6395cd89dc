"""What players may be called."""

import pytest

from server.errors import InvalidNameError
from server.registry.registry import check_player_name


@pytest.mark.parametrize("name", ["Deep", "a", "9", "deep-blue_2.1", "x" * 64, "mcts2"])
def test_names(name: str) -> None:
    assert check_player_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "", "x" * 65, "a b", "é", "-a", ".a", "..", "a/b", "a:b", "mcts:playouts=3", "http://x", "<b>", "a\n", "a\0",
        "mcts", "MCTS", "human", "Human", "random", "nobody", "new",
    ],
)  # fmt: skip
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(InvalidNameError):
        check_player_name(name)
