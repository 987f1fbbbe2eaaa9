"""What it would have cost to change plans over recorded streams by this policy or that one."""
