"""The editor server: what `ggp lsp` does on standard input and output, by the Language Server Protocol."""

import logging
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, BinaryIO, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import RPCMessage, RPCRequest

from gdl.diagnostics import Diagnostic
from gdl.errors import RenamingError
from server.editor import answers
from server.editor.document import Checking, Document

_TRIGGERS: Final = ("(", "?")


class EditorProtocol(LanguageServerProtocol):
    """The protocol, with an answer also to requests that cannot be read, or come after the last one.

    The library alone leaves these without one.
    """

    def handle_message(self, message: RPCMessage) -> None:
        """Have *message* answered, a request after `shutdown` by a refusal."""
        if self._shutdown and isinstance(message, RPCRequest):
            refused = JsonRpcInvalidRequest("the server has been asked to shut down, and answers no more requests")
            self._send_response(message.id, error=refused.to_response_error())
        else:
            super().handle_message(message)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return the message that *data* is; a request with parameters of another shape is refused.

        Raises:
            JsonRpcException: it is no message.
        """
        method = data.get("method") if "jsonrpc" in data else None
        # A message may leave out its parameters; the library misses them in those that it does not know.
        is_unknown = isinstance(method, str) and self.get_message_type(method) is None
        try:
            return super().structure_message({"params": None, **data} if is_unknown else data)
        except JsonRpcException:
            number = data.get("id")
            if "method" in data and isinstance(number, (int, str)):
                refused = JsonRpcInvalidParams(f"the parameters of {data['method']} are not of the shape that it takes")
                self._send_response(number, error=refused.to_response_error())
            raise


class EditorServer(LanguageServer):
    """Holds the documents that are open, each as it was typed last; `is_shut_down` when the editor has asked for that.

    Texts come whole with every change: a library that applies changes to parts would have to agree with every editor
    on what ends a line.
    """

    def __init__(self, delay_s: float) -> None:
        super().__init__(
            "ggp",
            version("ggp"),
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=EditorProtocol,
        )
        self.is_shut_down = False
        self.checking = Checking(self._publish, self._tell, delay_s)
        self._documents: dict[str, Document] = {}
        self._found: dict[Document, Sequence[Diagnostic]] = {}

    def document(self, uri: str) -> Document:
        """Return the document that is open under that address.

        Raises:
            JsonRpcException: none is.
        """
        if uri not in self._documents:
            raise JsonRpcException(f"no document is open as {uri}", types.ErrorCodes.InvalidParams.value)
        return self._documents[uri]

    def found_in(self, document: Document) -> Sequence[Diagnostic]:
        """Return what has been published of this version of a document; nothing while it is being checked."""
        return self._found.get(document, ())

    def put(self, uri: str, number: int, *, is_opened: bool = False) -> None:
        """Take up a new version of a document."""
        text = self.workspace.get_text_document(uri).source
        document = Document(uri, text, number, str(self.workspace.position_encoding))
        self._forget(uri)
        self._documents[uri] = document
        self.checking.changed(document, is_opened=is_opened)

    def close(self, uri: str) -> None:
        """Forget a document, and have the editor forget what was said of it."""
        self.checking.forget(uri)
        if self._forget(uri):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _forget(self, uri: str) -> bool:
        """Forget a document; return whether it was there."""
        document = self._documents.pop(uri, None)
        if document is not None:
            self._found.pop(document, None)
        return document is not None

    def _publish(self, document: Document, found: Sequence[Diagnostic]) -> None:
        self._found[document] = found
        said = answers.diagnostics(document, found)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, said, document.version))

    def _tell(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Warning, message))


def serve(delay_s: float, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> int:
    """Serve one editor until it ends; return the exit code, 0 where it asked for that.

    *Units*: seconds from the last change of a text to its checks.
    """
    _log_errors()
    server = EditorServer(delay_s)
    _follow_documents(server)
    _answer_questions(server)
    _offer_changes(server)
    server.start_io(stdin, stdout)
    server.checking.close()
    return 0 if server.is_shut_down else 1


def _log_errors() -> None:
    """Log unexpected errors to standard error, which editors keep in a log of the server."""
    handler = logging.StreamHandler()
    handler.addFilter(_is_unexpected)
    log = logging.getLogger("pygls")
    log.addHandler(handler)
    log.setLevel(logging.WARNING)
    log.propagate = False


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Return whether an error is more than the refusal of a request, which the editor shows by itself."""
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcException)


def _follow_documents(server: EditorServer) -> None:
    """Register the notifications on documents that open, change and close, and on the end."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.put(params.text_document.uri, params.text_document.version, is_opened=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.put(params.text_document.uri, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    def shut_down(_: None) -> None:
        server.is_shut_down = True


def _answer_questions(server: EditorServer) -> None:
    """Register the requests that read a document: hover, definitions, references, symbols, completion, format."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return answers.hover(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        return answers.definitions(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        document = server.document(params.text_document.uri)
        return answers.references(document, params.position, with_definitions=params.context.include_declaration)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        return answers.highlights(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return answers.symbols(server.document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS))
    def completion(params: types.CompletionParams) -> types.CompletionList:
        return answers.completion(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        return answers.formatting(server.document(params.text_document.uri))


def _offer_changes(server: EditorServer) -> None:
    """Register the requests that change a document: quick fixes and renaming."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    def mending(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.document(params.text_document.uri)
        return answers.mending(document, server.found_in(document), params.range)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
        try:
            return answers.prepared_rename(server.document(params.text_document.uri), params.position)
        except RenamingError as error:
            raise _refused(error) from error

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit:
        try:
            return answers.renaming(server.document(params.text_document.uri), params.position, params.new_name)
        except RenamingError as error:
            raise _refused(error) from error


def _refused(error: RenamingError) -> JsonRpcException:
    return JsonRpcException(str(error), types.LSPErrorCodes.RequestFailed.value)
