"""Sources followed through a network: tensors that know which part of them each source gave."""

from analysis.streams import rules as rules  # fills the table that a DecomposedTensor looks its rules up in
