"""Tests of parts that work together: real sockets, child processes, files, the command line."""
