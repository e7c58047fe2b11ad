"""``pprofdiff mcp``: the command line as tools for agents (Model Context Protocol)."""
