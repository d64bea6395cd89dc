"""The pages of the game manager: rendered by the server, live by small modules of JavaScript."""
