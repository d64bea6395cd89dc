"""Signatures of match records in the public format."""

from __future__ import annotations

import base64
import json
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from server.records.errors import KeyFileError, SignatureFormatError
from server.records.signature import (
    SIGNATURE,
    canonical_json,
    has_valid_signature,
    is_signed,
    kept_key,
    make_key,
    public_key_text,
    signed,
)

RECORD = {"matchId": "m.1", "states": ["( ( cell 1 1 b ) )"], "isCompleted": True, "x-note": "ü </b> \u2028"}


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return make_key()


def test_a_signed_record_verifies_and_keeps_its_content(key: RSAPrivateKey) -> None:
    done = signed(RECORD, key)
    assert {name: done[name] for name in RECORD} == RECORD
    assert is_signed(done)
    assert has_valid_signature(json.loads(json.dumps(done, indent=2)))


@pytest.mark.parametrize("changed", [{"matchId": "m.2"}, {"x-more": 1}, {"isCompleted": 1}])
def test_any_change_breaks_the_signature(key: RSAPrivateKey, changed: dict[str, object]) -> None:
    assert not has_valid_signature(signed(RECORD, key) | changed)


def test_signing_again_replaces_the_signature(key: RSAPrivateKey) -> None:
    assert has_valid_signature(signed(signed(RECORD, key) | {"matchId": "m.2"}, key))


def test_openssl_verifies_the_signature_over_the_key_sorted_blank_free_json(key: RSAPrivateKey, tmp_path: Path) -> None:
    done = signed({"b": [1, "x y"], "a": {"d": None, "c": True}}, key)
    public, signature = str(done["matchHostPK"]), str(done["matchHostSignature"])
    assert (public[0], signature[:2]) == ("0", "A0")
    (tmp_path / "key.der").write_bytes(base64.b64decode(public[1:]))
    (tmp_path / "signature").write_bytes(base64.b64decode(signature[2:]))
    text = f'{{"a":{{"c":true,"d":null}},"b":[1,"x y"],"matchHostPK":"{public}"}}'
    (tmp_path / "text").write_text(text)
    command = "openssl dgst -sha1 -verify key.der -keyform DER -signature signature text"
    try:
        ran = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no openssl on this machine")
    assert ran.stdout.strip() == "Verified OK"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "B": 2, "a": [True, None, "x"]}, '{"B":2,"a":[true,null,"x"],"b":1}'),
        ("a/b </c> <=", '"a/b <\\/c> <="'),
        ('\b\t\n\f\r"\\\x00', '"\\b\\t\\n\\f\\r\\"\\\\\\u0000"'),
        ("\x7f\x80\x9f\xa0ü\u2028\u2100", '"\x7f\\u0080\\u009f\xa0ü\\u2028\u2100"'),
        (1.0, "1"),
        (1.5, "1.5"),
    ],
)
def test_canonical_json_is_what_the_public_hosts_sign(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("matchHostPK", "1AAAA"),
        ("matchHostPK", "0!!!!"),
        ("matchHostPK", "0AAAA"),
        ("matchHostPK", None),
        ("matchHostSignature", "B0AAAA"),
        ("matchHostSignature", "A0é"),
        ("matchHostSignature", "A0AA!AA"),
        ("matchHostSignature", "A1AAAA"),
        ("matchHostSignature", 7),
    ],
)
def test_a_garbled_key_or_signature_is_named(key: RSAPrivateKey, name: str, value: object) -> None:
    with pytest.raises(SignatureFormatError) as caught:
        has_valid_signature(signed(RECORD, key) | {name: value})
    assert caught.value.key == name


def test_the_key_of_another_kind_is_named(key: RSAPrivateKey) -> None:
    der = (
        ec.generate_private_key(ec.SECP256R1())
        .public_key()
        .public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    with pytest.raises(SignatureFormatError) as caught:
        has_valid_signature(signed(RECORD, key) | {"matchHostPK": "0" + base64.b64encode(der).decode()})
    assert caught.value.key == "matchHostPK"


def test_text_that_is_no_unicode_can_be_signed(key: RSAPrivateKey) -> None:
    assert has_valid_signature(signed(RECORD | {"x-note": "\udce4"}, key))


def test_a_record_that_nests_too_deep_has_no_signature(key: RSAPrivateKey) -> None:
    deep = json.loads("[" * 500 + "]" * 500)
    with pytest.raises(SignatureFormatError, match=SIGNATURE):
        has_valid_signature(signed(RECORD, key) | {"x-note": deep})


def test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "host.key"
    first = kept_key(path)
    assert (first.key_size, first.public_key().public_numbers().e) == (2048, 65537)
    assert public_key_text(kept_key(path)) == public_key_text(first)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["PK"] == public_key_text(first)


def _ec_key_text() -> str:
    der = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return json.dumps({"SK": "0" + base64.b64encode(der).decode()})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("[]", "list indices must be integers or slices, not str"),
        ("{}", "'SK'"),
        ('{"SK": 3}', "text that begins with '0' expected"),
        ('{"SK": "0!"}', "no base64"),
        ('{"SK": "0AAAA"}', ""),
        (_ec_key_text(), "it holds a key that is not RSA"),
    ],
)
def test_a_file_without_a_key_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "host.key"
    path.write_text(text)
    with pytest.raises(KeyFileError) as caught:
        kept_key(path)
    assert (caught.value.path, caught.value.reason[: len(reason)]) == (path, reason)
