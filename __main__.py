"""`python -m pagesight` is the command line."""

from .app.cli import main

main()
