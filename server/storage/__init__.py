"""The database: games, players, matches and what happened in them, in one SQLite file or on a PostgreSQL server."""
