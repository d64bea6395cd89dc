"""What an editor asks of a document, answered in the words of the Language Server Protocol."""

from collections.abc import Iterator, Sequence
from typing import Final

from lsprotocol import types

from gdl.checks.subject import part
from gdl.diagnostics import Diagnostic, Related, Severity
from gdl.editing.completion import complete
from gdl.editing.edits import Edit
from gdl.editing.fixes import Fix, fixes
from gdl.editing.formatting import format_rules
from gdl.editing.grammar import MEANINGS, Part
from gdl.editing.outline import Entry, outline
from gdl.editing.renaming import renamable, rename
from gdl.editing.symbols import Occurrence, SymbolIndex, SymbolKind, comment_above
from gdl.errors import RuleFileError
from gdl.language.kif import Form
from gdl.language.syntax import USAGE
from gdl.quantities import quantity
from server.editor.document import Document

_PARTS: Final = frozenset({Part.ROLE, Part.FLUENT, Part.MOVE, Part.PERCEPT})
_MOST_DEFINITIONS: Final = 12
_MOST_LINES: Final = 40
_MOST_CHARACTERS: Final = 2_000


def describe(index: SymbolIndex, found: Occurrence) -> str:
    """Return, as Markdown, what is known of the name *found*."""
    if found.kind is SymbolKind.VARIABLE:
        return f"variable `{found.symbol.name}`: {quantity(len(index.uses(found.symbol)), 'place')} in this rule"
    defining = index.definitions(found)
    definitions = _items(defining)
    title = _keyword(found) if found.kind is SymbolKind.KEYWORD else _title(found, defining)
    n_places = quantity(len(index.uses(found.symbol)), "place")
    counts = f"{quantity(len(definitions), 'definition')}, {n_places} in this file" if definitions else n_places
    shown = list(_shown(definitions))
    left = len(definitions) - len(shown)
    more = [f"and {quantity(left, 'more definition')}"] if left and shown else []
    code = ["```gdl\n" + "\n".join(shown) + "\n```"] if shown else []
    return "\n\n".join([f"{title}  \n{counts}", *code, *more])


def _title(found: Occurrence, defining: Sequence[Occurrence]) -> str:
    parts = [one.part for one in (*defining, found) if one.part in _PARTS]
    what = parts[0] if parts else found.kind
    arity = f": {quantity(found.arity, 'argument')}" if found.arity else ""
    return f"{what} `{found.symbol.name}`{arity}"


def _keyword(found: Occurrence) -> str:
    name = found.symbol.name
    return f"`{USAGE.get(name, name)}`: {MEANINGS[name]}"


def _items(definitions: Sequence[Occurrence]) -> list[Form]:
    return list({found.item.start: found.item for found in definitions}.values())


def _shown(items: Sequence[Form]) -> Iterator[str]:
    """Yield the text of *items* with the comments above them, as much as fits a small window."""
    n_lines = 0
    for item in items[:_MOST_DEFINITIONS]:
        text = "\n".join(filter(None, [comment_above(item), item.span.text]))
        n_lines += text.count("\n") + 1
        if n_lines > _MOST_LINES or len(text) > _MOST_CHARACTERS:
            return
        yield text


_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_COMPLETION_KINDS: Final = {
    SymbolKind.KEYWORD: types.CompletionItemKind.Keyword,
    SymbolKind.RELATION: types.CompletionItemKind.Function,
    SymbolKind.FUNCTION: types.CompletionItemKind.Struct,
    SymbolKind.CONSTANT: types.CompletionItemKind.Constant,
    SymbolKind.VARIABLE: types.CompletionItemKind.Variable,
}
MENDING: Final = {
    "gdl/capitalisation": "Write it as elsewhere",
    "gdl/empty-body": "Write a fact",
    "gdl/lone-name-in-parentheses": "Leave the parentheses out",
    "gdl/unused-relation": "Delete what defines it",
}
"""What an editor offers to do about a defect that is mended mechanically."""
_UNNECESSARY: Final = frozenset({"gdl/unused-relation", "gdl/unused-fluent"})
"""What editors show faded."""


def hover(document: Document, place: types.Position) -> types.Hover | None:
    """Return what is known of the name at *place*."""
    found = _name_at(document, place)
    if found is None:
        return None
    text = types.MarkupContent(types.MarkupKind.Markdown, describe(document.index, found))
    return types.Hover(text, document.positions.range(found.span))


def definitions(document: Document, place: types.Position) -> list[types.Location]:
    """Return where the name at *place* is defined."""
    found = _name_at(document, place)
    return [] if found is None else _locations(document, document.index.definitions(found))


def references(document: Document, place: types.Position, *, with_definitions: bool) -> list[types.Location]:
    """Return where the name at *place* stands; a variable: in its rule."""
    found = _name_at(document, place)
    uses = () if found is None else document.index.uses(found.symbol)
    return _locations(document, [use for use in uses if with_definitions or not use.is_definition])


def highlights(document: Document, place: types.Position) -> list[types.DocumentHighlight]:
    """Return the places to light up while the cursor is on a name."""
    kinds = {True: types.DocumentHighlightKind.Write, False: types.DocumentHighlightKind.Read}
    found = _name_at(document, place)
    uses = () if found is None else document.index.uses(found.symbol)
    return [types.DocumentHighlight(document.positions.range(use.span), kinds[use.is_definition]) for use in uses]


def prepared_rename(document: Document, place: types.Position) -> types.PrepareRenamePlaceholder:
    """Return the name at *place* that may be given another spelling.

    Raises:
        RenamingError: it may not.
    """
    found = renamable(document.index, document.positions.offset(place))
    return types.PrepareRenamePlaceholder(document.positions.range(found.span), found.token.name)


def renaming(document: Document, place: types.Position, name: str) -> types.WorkspaceEdit:
    """Return the changes that give the name at *place* the spelling *name*.

    Raises:
        RenamingError: it may not be so.
    """
    edits = rename(document.index, document.positions.offset(place), name)
    return _changes(document, edits)


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """Return the outline of the file."""
    return [_symbol(document, entry) for entry in outline(document.index)]


def completion(document: Document, place: types.Position) -> types.CompletionList:
    """Return what may be written at *place*."""
    if document.is_toml:
        return types.CompletionList(is_incomplete=False, items=[])
    offset = document.positions.offset(place)
    found = complete(document.index, offset)
    replaced = types.Range(document.positions.position(found.start), document.positions.position(offset))
    items = [
        types.CompletionItem(
            label=proposal.name,
            kind=_COMPLETION_KINDS[proposal.kind],
            detail=proposal.detail,
            sort_text=f"{number:06}",
            filter_text=proposal.name,
            text_edit=types.TextEdit(replaced, proposal.name),
        )
        for number, proposal in enumerate(found.proposals)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def formatting(document: Document) -> list[types.TextEdit]:
    """Return the change that lays the file out; none where its parentheses do not balance, which a diagnostic says.

    Of TOML the layout is left as it is.
    """
    if document.is_toml:
        return []
    try:
        text = format_rules(document.source)
    except RuleFileError:
        return []
    return [types.TextEdit(document.positions.whole, text)] if text != document.text else []


def diagnostics(document: Document, found: Sequence[Diagnostic]) -> list[types.Diagnostic]:
    """Return what the checks *found*, each with its hint and its other places."""
    return [_diagnostic(document, one) for one in found]


def mending(document: Document, found: Sequence[Diagnostic], place: types.Range) -> list[types.CodeAction]:
    """Return what would mend those defects of all *found* in *document* that touch *place*: names meant come first."""
    if document.is_toml:
        return []
    start, end = document.positions.offset(place.start), document.positions.offset(place.end)
    touched = [one for one in found if one.span.start <= end and start <= one.span.end]
    respelt = [
        _action(document, Fix(one, (Edit(part(one.span, 0), one.meant),)), f"Write {one.meant}")
        for one in touched
        if one.meant is not None
    ]
    mendable = [one for one in touched if one.code.name in MENDING]
    mended = fixes(document.source, mendable) if mendable else ()
    return respelt + [_action(document, fix, MENDING[fix.diagnostic.code.name]) for fix in mended]


def _action(document: Document, fix: Fix, title: str) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(document, fix.diagnostic)],
        edit=_changes(document, fix.edits),
    )


def _changes(document: Document, edits: Sequence[Edit]) -> types.WorkspaceEdit:
    changes = [types.TextEdit(document.positions.range(edit.span), edit.text) for edit in edits]
    return types.WorkspaceEdit(changes={document.uri: changes})


def _diagnostic(document: Document, found: Diagnostic) -> types.Diagnostic:
    """Return *found* as a diagnostic of the protocol."""
    return types.Diagnostic(
        range=document.positions.range(found.span),
        message=found.message if found.hint is None else f"{found.message}\nhint: {found.hint}",
        severity=_SEVERITIES[found.severity],
        code=found.code.name,
        source="ggp",
        tags=[types.DiagnosticTag.Unnecessary] if found.code.name in _UNNECESSARY else None,
        related_information=[_related(document, related) for related in found.related] or None,
    )


def _related(document: Document, related: Related) -> types.DiagnosticRelatedInformation:
    place = types.Location(document.uri, document.positions.range(related.span))
    return types.DiagnosticRelatedInformation(place, related.message)


def _symbol(document: Document, entry: Entry) -> types.DocumentSymbol:
    """Return *entry* of the outline, and what is in it, as symbols of the protocol."""
    return types.DocumentSymbol(
        name=entry.name,
        detail=entry.detail,
        kind=types.SymbolKind.Function if entry.is_rule else types.SymbolKind.Constant,
        range=document.positions.range(entry.span),
        selection_range=document.positions.range(entry.name_span),
        children=[_symbol(document, inner) for inner in entry.inner],
    )


def _name_at(document: Document, place: types.Position) -> Occurrence | None:
    return document.index.at(document.positions.offset(place))


def _locations(document: Document, found: Sequence[Occurrence]) -> list[types.Location]:
    return [types.Location(document.uri, document.positions.range(one.span)) for one in found]
