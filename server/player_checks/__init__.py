"""The checks of `ggp check-player`: a conformance suite for players of every author."""
