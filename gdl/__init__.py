"""The language, the engines and the wire messages, without any input or output."""
