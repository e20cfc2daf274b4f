"""Training of the networks that write skeletons: all here needs PyTorch (extra neural), what is trained does not."""
