"""The dashboard: pages, pickers, links, charts."""
