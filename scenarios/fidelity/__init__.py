"""How often charts choose the best plan: the experiments of OM's Figures 3(c) and 4(b)."""
