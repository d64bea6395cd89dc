"""Pattern databases: distances to the goal in projections of a game of one role, and beam search by their sum."""
