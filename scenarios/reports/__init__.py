"""Reports of simulations and studies: their contents, and how a terminal and a page show them."""
