"""How strong players are by the results of all matches: leaderboards, and two players head to head."""
