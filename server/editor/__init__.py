"""The editor server: what `ggp lsp` tells editors of rule files, by the Language Server Protocol."""
