"""Imperfect information: search over information sets, and strategies that nothing can exploit."""
