"""The ways to players: over HTTP, in child processes, our own, and by queues to those that dial in and people."""
