"""The static checks of rule files from Python: each diagnostic with its place, its code and a hint.

python examples/validate_rules.py [FILE]

Without a file, it checks rules with a mistake in them.
"""

import sys
from pathlib import Path

from gdl.checks import check
from gdl.diagnostics import Source

RULES = """\
(role robot) (init (at 1)) (legal robot stay) (goal robot 100)
(<= (next (at ?y)) (true (at ?x)) (does robot stay))
(<= terminal (true (at 2)))
"""

if len(sys.argv) > 1:
    source = Source(sys.argv[1], Path(sys.argv[1]).read_text(encoding="utf-8"))
else:
    source = Source("robot.kif", RULES)
diagnostics = check(source)
for found in diagnostics:
    print(f"{found.span.place}: {found.severity}: {found.message} [{found.code.name}]")
    print(found.span.picture)
    if found.hint is not None:
        print(f"hint: {found.hint}")
n_errors = sum(found.is_error for found in diagnostics)
print(f"diagnostics: {len(diagnostics)}, errors: {n_errors}")
sys.exit(1 if n_errors else 0)
