"""Networks as models and as proposers of skeletons: EQL, DeepMoD, trained transformers."""
