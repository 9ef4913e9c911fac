"""From features to labels: the networks, the chain and the packaged weights."""
