"""Headers that every answer has, so that a browser keeps to what our pages need."""

from __future__ import annotations

from typing import Final

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not `no-referrer`: browsers then hide the origin of our own forms, too.
    "Referrer-Policy": "same-origin",
    "Server": "ggp",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every answer has; no script or style inside a page is run."""
SECRET_HEADERS: Final = {"Strict-Transport-Security": "max-age=31536000"}
"""What every answer under TLS has besides."""
