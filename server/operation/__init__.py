"""How the game manager is run: configuration, logs, metrics, health, and its end."""
