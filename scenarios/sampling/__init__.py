"""How often intervals of sampled selectivities hold the truth."""
