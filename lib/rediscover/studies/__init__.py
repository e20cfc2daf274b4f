"""One folder a study: what it scores, computes and claims, with the numbers that its paper prints."""
