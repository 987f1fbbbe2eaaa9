"""Fork, fuse, and the strategies that replace a running plan."""
