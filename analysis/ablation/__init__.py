"""Our own trainings: position encodings put into the same small model, pre-trained, fine-tuned and compared."""
