"""Who may do what on the game manager's web pages and API, and what nobody may."""
