"""Matches as viewers may see them, during play and after the end: the API and the pages both ask here."""
