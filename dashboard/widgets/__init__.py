"""Building blocks of pages: forms, pickers, tables, cards and figures on screen."""
