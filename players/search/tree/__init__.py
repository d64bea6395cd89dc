"""The compiled tree search: a tree that lasts for a match, in flat arrays, searched in batches of walks."""
