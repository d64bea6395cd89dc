"""The player kit and the players."""
