"""The ways to players: over HTTP, in child processes, our own."""
