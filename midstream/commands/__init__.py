"""Scripts in SQL: how they run, and how they are explained."""
