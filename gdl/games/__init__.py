"""The library of games: rule files with their descriptions, and the families of games that come in any size."""
