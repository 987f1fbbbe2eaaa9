"""Sources of streams: files, standard input, sockets, Python."""
