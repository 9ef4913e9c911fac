"""The public face: the API, the command line and the formats of a Document."""
