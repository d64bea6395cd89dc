"""Alpha-beta: iterative deepening on any engine, and on the compiled one by a kernel."""
