"""The kernels: what numba compiles, for 512 plays at once and for single states."""
