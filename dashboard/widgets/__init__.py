"""What pages are built of: forms, pickers, tables, cards and figures on screen."""
