"""Gold labels, rendered data sets, training and evaluation."""
