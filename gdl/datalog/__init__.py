"""The reference evaluation: clauses, the order in which they depend on one another, and joins over relations."""
