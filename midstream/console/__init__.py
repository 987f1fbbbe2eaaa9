"""The terminal and the process of a command."""
