"""The language server: the only room with pygls and lsprotocol; knows no language's inside."""
