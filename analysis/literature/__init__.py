"""Published tables, laid out as the papers print them."""
