"""Tools for language models, by the Model Context Protocol: what `ggp mcp` offers."""
