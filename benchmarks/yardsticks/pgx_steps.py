"""Steps a second of pgx on this processor: `python pgx_steps.py GAME COPIES SECONDS`, by a Python that has pgx and jax.

Legal actions are drawn at random and ended plays begin anew, all in one compiled scan of 32 steps, its best case.
"""

from __future__ import annotations

import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental import auto_reset

SCAN = 32
NAMES = {"tictactoe": "tic_tac_toe", "connectfour": "connect_four"}


def main() -> None:
    """Print the steps a second of processor time."""
    game, n, seconds = NAMES.get(sys.argv[1], sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    if game not in pgx.available_envs():
        return
    env = pgx.make(game)
    step = jax.vmap(auto_reset(env.step, env.init))

    def one(state, key):  # type: ignore[no-untyped-def]  # of pgx
        choice, other = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        following = step(state, jax.random.categorical(choice, logits, axis=-1), jax.random.split(other, n))
        return following, following.terminated.sum()

    many = jax.jit(lambda state, key: jax.lax.scan(one, state, jax.random.split(key, SCAN)))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), n))
    keys = list(jax.random.split(jax.random.PRNGKey(1), 1000))
    state, _ = many(state, keys[0])
    jax.block_until_ready(state)
    began_s, n_steps = time.process_time(), 0
    while (spent_s := time.process_time() - began_s) < seconds:
        state, ends = many(state, keys[n_steps % 1000])
        jax.block_until_ready(ends)
        n_steps += 1
    print(n_steps * SCAN * n / spent_s)  # noqa: T201 -- read by benchmarks.vector


main()
