"""What can be read from hidden states: where a token stands, which word it is, which of two comes first."""
