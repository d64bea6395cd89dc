"""Claims to seats."""

from server.registry.queueing import is_claim, new_claim


def test_only_the_secret_claims_the_seat() -> None:
    claim = new_claim()
    assert [is_claim(secret, claim.hash) for secret in (claim.secret, claim.hash, "", "é\0\ud800")] == [
        True,
        False,
        False,
        False,
    ]


def test_no_two_claims_are_alike() -> None:
    assert new_claim() != new_claim()
