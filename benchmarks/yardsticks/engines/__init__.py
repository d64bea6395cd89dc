"""The yardsticks as child processes: each module is a program that plays over standard input and output.

`openspiel`, `translations` and `dialogue` need the standard library alone: they run in the Python that has `pyspiel`.
"""
