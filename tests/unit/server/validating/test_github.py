"""What GitHub Actions read of a validation, whole; nothing in a file or its name can be taken for a command."""

from __future__ import annotations

from gdl.diagnostics import Diagnostic, Source, Span, codes
from server.validating.formats import as_annotations
from server.validating.validation import Validation
from tests.kit.server.validating.data import expected
from tests.kit.server.validating.example import ALL


def test_everything_is_an_annotation() -> None:
    output = "".join(f"{line}\n" for line in as_annotations(ALL))
    assert output == expected("annotations.txt", output)


def test_nothing_breaks_out_of_its_annotation() -> None:
    source = Source("::error::,x=1\n::set-env name=A::%\udcff.kif", "(p)")
    found = Diagnostic(codes()["gdl/open-fact"], Span(source, 0, 1), "a\n::error::b", "c\r::d")
    assert list(as_annotations([Validation(source, diagnostics=(found,), limit="out\nof time")])) == [
        r"::error file=%3A%3Aerror%3A%3A%2Cx=1%0A%3A%3Aset-env name=A%3A%3A%25\udcff.kif,line=1,endLine=1,col=1,"
        r"endColumn=2,title=gdl/open-fact::a\n::error::b%0Ahint: c\r::d",
        r"::warning file=%3A%3Aerror%3A%3A%2Cx=1%0A%3A%3Aset-env name=A%3A%3A%25\udcff.kif,title=no verdict::"
        r"out%0Aof time",
        "1 file: 1 wrong; 1 error",
    ]
