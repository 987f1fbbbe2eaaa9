"""Where results go: files and standard output."""
