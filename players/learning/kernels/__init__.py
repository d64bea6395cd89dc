"""What numba compiles for learning: walks through search trees."""
