"""The library of games: rule files with their descriptions, and how a state is drawn."""
