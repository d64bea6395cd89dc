"""Plans for one role: the searches that look for them, and the one that is kept and followed."""
