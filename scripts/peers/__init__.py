"""Programs of other libraries that do the work of `cssc bench`; see scripts/bench-peers."""
