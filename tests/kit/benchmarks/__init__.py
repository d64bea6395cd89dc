"""Stand-ins for engines by others."""
