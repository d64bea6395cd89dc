"""Learn a game of two from its rules alone, with arrays: a linear policy that plays many games of itself at once.

Run as `python examples/learn_breakthrough.py`, or with a game, copies and rounds:
`python examples/learn_breakthrough.py breakthrough 128 10`. It needs nothing but NumPy, and prints how often the policy
beats a player that moves at random.
"""

import sys

import numpy as np

from players.environments import VectorGame

STEPS = 64  # of every copy in a round
RATE = 40.0


def chances(weights, seen, legal):
    """Return the chance of each action: a softmax of a linear function of the bits, over the legal actions."""
    logits = np.where(legal, seen @ weights, -np.inf)
    grown = np.exp(logits - logits.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)


def drawn(p, rng):
    """Return an action for each row of chances."""
    sums = p.cumsum(axis=1)
    return (sums < rng.random((len(p), 1)) * sums[:, -1:]).sum(axis=1)


def learn(games, weights, rng):
    """Play a round of the policy against itself, and change it towards the actions of those who won."""
    memory = []
    for _ in range(STEPS):
        seen, legal, mover = games.observe().astype(np.float32), games.legal.copy(), games.to_move.copy()
        p = chances(weights, seen, legal)
        actions = drawn(p, rng)
        rewards, ended = games.step(actions)
        memory.append((seen, p, actions, mover, rewards.copy(), ended.copy()))
    gradient, result = np.zeros_like(weights), np.zeros((games.n, 2), np.float32)
    for seen, p, actions, mover, rewards, ended in reversed(memory):
        result = np.where(ended[:, None], rewards, 0.99 * result)  # of the play that this step belongs to
        advantage = result[np.arange(games.n), mover]
        better = -p * advantage[:, None]
        better[np.arange(games.n), actions] += advantage
        gradient += seen.T @ better
    return weights + RATE * gradient / (games.n * STEPS)


def score(game, weights, rng, n=400):
    """Return how often the policy wins as the first player against one that moves at random."""
    games = VectorGame(game, n, seed=7, auto_reset=False)
    while not games.is_over.all():
        p = chances(weights, games.observe().astype(np.float32), games.legal | games.is_over[:, None])
        games.step(np.where(games.to_move == 0, drawn(p, rng), games.sample_actions()))
    return float((games.goals[:, 0] == 100).mean())


def main(game="breakthrough", copies="256", rounds="20"):
    games, rng = VectorGame(game, int(copies), seed=1), np.random.default_rng(1)
    weights = np.zeros((len(games.fluents), len(games.actions[0])), np.float32)
    for number in range(int(rounds) + 1):
        if number % 10 == 0:
            print(f"round {number}: wins {score(game, weights, rng):.0%} against random moves")
        weights = learn(games, weights, rng)


if __name__ == "__main__":
    main(*sys.argv[1:])
