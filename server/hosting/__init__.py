"""What a game manager does: matches from the order to the record, tournaments, the ladder, games that come in."""
