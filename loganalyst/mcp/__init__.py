"""`loganalyst mcp`: tools for coding agents, over stdio by the Model Context Protocol. See docs/mcp.md.

`tools` defines them as functions of plain values; `server` serves them. Only the command imports this package, which
needs the extra `mcp`.
"""
