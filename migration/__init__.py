"""Fork, fuse, and the strategies that exchange a running plan."""
