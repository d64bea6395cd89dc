"""Addresses on the web that come from outside."""

from yarl import URL


def url_of(text: str) -> URL:
    """Return the address that *text* is.

    Raises:
        ValueError: it is none.

    Example:
        >>> url_of("http://127.0.0.1:9147").port
        9147
    """
    try:
        return URL(text)
    except IndexError as error:  # yarl raises it where an empty host stands behind user and password
        raise ValueError("an address names a host") from error
