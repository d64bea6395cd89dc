"""The dynamic checks: what shows only when a game is played.

`simulate` makes random plays, then looks at every state where the states are few enough. It notices plays that do not
end, states without a legal move, goals that are missing or doubled, fluents and moves that nothing declares; each with
a play that shows it. `simulator` runs it all, `state_space` walks through all states and draws conclusions from
them, the `observer` looks at each state within a budget, `diagnosis` finds the rule to blame and the words, `figures`
has the report.
"""

from gdl.simulation.diagnosis import CODES
from gdl.simulation.figures import Exact, Finding, SimulationReport
from gdl.simulation.observer import DEFAULT_BUDGET, SimulationBudget
from gdl.simulation.simulator import simulate

__all__ = ["CODES", "DEFAULT_BUDGET", "Exact", "Finding", "SimulationBudget", "SimulationReport", "simulate"]
