"""The wire as text: messages to players, their replies, and scrambled names."""
