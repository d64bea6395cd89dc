"""The fast engine: clauses are decomposed, grounded, turned into a circuit, and run for many plays at once.

Each module is one stage, a function from one representation to the next; `gdl.compiler.compiled` puts them together.
"""
