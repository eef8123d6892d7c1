"""Pass 2: the shape of a spec. Strict models; every fault in our words, at its line."""
