"""The match: a protocol core without I/O, and the driver that carries out what it commands."""
