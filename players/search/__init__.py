"""The searches: trees of positions, of joint moves and of what a role knows."""
