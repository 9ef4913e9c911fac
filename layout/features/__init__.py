"""Block and edge features, by name and version."""
