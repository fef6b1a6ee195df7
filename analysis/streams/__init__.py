"""Sources followed through a network: tensors that know which part of them each source gave."""
