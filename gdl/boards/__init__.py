"""Boards: how a state is drawn, by the layout of its game or by a guessed one."""
