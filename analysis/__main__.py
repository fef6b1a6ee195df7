"""Runs the command line: python -m analysis."""

from analysis.commands import main

if __name__ == "__main__":
    main()
