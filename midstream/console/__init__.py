"""What commands owe to the terminal and to their process."""
