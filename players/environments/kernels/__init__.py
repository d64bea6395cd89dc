"""What numba compiles for arrays of plays: steps, random choices, masks and observations."""
