"""The HTTP API of the game manager."""
