"""Learning a game from its rules alone, by self-play, and the player that plays what was learned."""
