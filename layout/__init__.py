"""From a Snapshot to a Page: the collapsed DOM, its blocks and their features."""
