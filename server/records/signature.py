"""The public signature of match records: RSA-2048, SHA1withRSA over JSON with sorted keys and no blanks.

Keys and signatures are text: a version digit, then base64. SHA-1 is what the public viewers and databases verify; a
signature says which host wrote a record, and nothing secret hangs on it.
"""

import base64
import binascii
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey, generate_private_key

from server.records.errors import KeyFileError, SignatureFormatError

PUBLIC_KEY: Final = "matchHostPK"
SIGNATURE: Final = "matchHostSignature"
_CODE: Final = "0"
_STRATEGY: Final = "A"
"""How the signed text was made: sorted keys, no blanks."""

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\x80-\x9f\u2000-\u20ff]|(?<=<)/')


def make_key() -> RSAPrivateKey:
    """Return a new RSA key of 2048 bits."""
    return generate_private_key(public_exponent=65537, key_size=2048)


def kept_key(path: Path) -> RSAPrivateKey:
    """Return the key that the file at *path* keeps; make it first, readable by its owner only, if it is not there.

    Raises:
        KeyFileError: the file holds no such key, or cannot be read or made.
    """
    try:
        if not path.exists():
            _keep(make_key(), path)
        kept = json.loads(path.read_text("utf-8"))
        key = serialization.load_der_private_key(_decoded(kept["SK"]), password=None)
    except (OSError, ValueError, TypeError, KeyError, UnsupportedAlgorithm) as error:
        raise KeyFileError(path, str(error)) from error
    if not isinstance(key, RSAPrivateKey):
        raise KeyFileError(path, "it holds a key that is not RSA")
    return key


def _keep(key: RSAPrivateKey, path: Path) -> None:
    secret = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    text = json.dumps({"PK": public_key_text(key), "SK": _encoded(secret)})
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text + "\n")


def public_key_text(key: RSAPrivateKey) -> str:
    """Return the public half of *key* as records carry it."""
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return _encoded(der)


def signed(record: Mapping[str, object], key: RSAPrivateKey) -> dict[str, object]:
    """Return *record* with the public key and the signature of *key*; an earlier signature is replaced."""
    unsigned = {name: value for name, value in record.items() if name != SIGNATURE}
    unsigned[PUBLIC_KEY] = public_key_text(key)
    raw = key.sign(_signed_bytes(unsigned), padding.PKCS1v15(), hashes.SHA1())  # noqa: S303 -- the public format
    return unsigned | {SIGNATURE: _STRATEGY + _encoded(raw)}


def is_signed(record: Mapping[str, object]) -> bool:
    """Return whether *record* carries a signature, right or wrong."""
    return SIGNATURE in record


def has_valid_signature(record: Mapping[str, object]) -> bool:
    """Return whether the signature that *record* carries is that of the public key that it carries.

    Raises:
        SignatureFormatError: key or signature is missing, or not in the public format, or the record nests too deep.
    """
    text, key = record.get(SIGNATURE), _public_key(record.get(PUBLIC_KEY))
    if not isinstance(text, str) or not text.startswith(_STRATEGY):
        raise SignatureFormatError(SIGNATURE)
    try:
        raw = _decoded(text[len(_STRATEGY) :])
        content = _signed_bytes({name: value for name, value in record.items() if name != SIGNATURE})
    except (ValueError, RecursionError) as error:
        raise SignatureFormatError(SIGNATURE) from error
    try:
        key.verify(raw, content, padding.PKCS1v15(), hashes.SHA1())  # noqa: S303 -- the public format
    except InvalidSignature:
        return False
    return True


def _public_key(text: object) -> RSAPublicKey:
    try:
        key = serialization.load_der_public_key(_decoded(text))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SignatureFormatError(PUBLIC_KEY) from error
    if not isinstance(key, RSAPublicKey):
        raise SignatureFormatError(PUBLIC_KEY)
    return key


def _encoded(raw: bytes) -> str:
    return _CODE + base64.b64encode(raw).decode("ascii")


def _decoded(text: object) -> bytes:
    if not isinstance(text, str) or not text.startswith(_CODE):
        raise ValueError(f"text that begins with {_CODE!r} expected")
    try:
        return base64.b64decode(text[len(_CODE) :], validate=True)
    except binascii.Error as error:
        raise ValueError("no base64") from error


def _signed_bytes(content: Mapping[str, object]) -> bytes:
    return canonical_json(content).encode("utf-8", "replace")


def canonical_json(value: object) -> str:
    r"""Return *value* as JSON with sorted keys and no blanks, strings escaped as the public hosts escape them.

    Source: the public Java implementation, whose JSON library escapes `</` and two ranges beyond ASCII.

    Example:
        >>> canonical_json({"b": [1, True, None], "a": "</x>"})
        '{"a":"<\\/x>","b":[1,true,null]}'
    """
    if isinstance(value, Mapping):
        inner = (f"{_quoted(str(name))}:{canonical_json(value[name])}" for name in sorted(value))
        return "{" + ",".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda found: _escape(found[0]), text) + '"'


def _escape(character: str) -> str:
    if character == "/":
        return "\\/"
    return _ESCAPES.get(character, f"\\u{ord(character):04x}")
