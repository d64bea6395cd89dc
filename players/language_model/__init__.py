"""A player that asks a language model for its moves, over the chat-completions protocol."""
