"""The game manager: matches, the HTTP API, and the commands of `ggp`."""
