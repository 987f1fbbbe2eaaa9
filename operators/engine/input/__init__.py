"""The input: every element is checked, and put in order, before an operator gets it."""
