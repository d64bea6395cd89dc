"""Tests over many rule files: the public ones of GGP_SHARED, and random games."""
