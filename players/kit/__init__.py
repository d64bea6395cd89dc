"""The kit: everything of a player but its thoughts: messages, deadlines, processes, connections."""
