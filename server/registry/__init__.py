"""Players that are registered: who they are, whether they answer, and when they play."""
