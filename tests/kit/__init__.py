"""What tests share: players and servers to test with, games, fixtures."""
