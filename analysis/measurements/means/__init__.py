"""Method `mean`: hidden states as mean, position, context and residual, over a corpus of full windows."""
