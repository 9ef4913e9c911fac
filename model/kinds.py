"""The kinds of pages that a model tells apart."""

KINDS = (
    "article",
    "collection",  # a shop's shelf
    "documentation",
    "forum",
    "listing",  # of articles, jobs, results
    "product",
    "service",
)
