"""`loganalyst mcp`: the tools a coding agent calls, over stdio by the Model Context Protocol. See docs/mcp.md.

`tools` says what can be called, in functions of plain values; `server` puts them on the wire. Only the command imports
this package: it needs the extra `mcp`.
"""
