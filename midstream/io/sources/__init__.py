"""Where streams come from: files, standard input, sockets, Python."""
