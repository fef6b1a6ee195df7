"""The ablation laboratory: one small encoder trained with every way of combining word and position."""
