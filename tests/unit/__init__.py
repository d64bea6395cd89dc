"""Tests that need no socket, no process and no time: all of them run in under a minute."""
