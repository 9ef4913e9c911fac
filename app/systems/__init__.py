"""Systems to compare with: each behind the one protocol of `protocol`, found by `registry`."""
