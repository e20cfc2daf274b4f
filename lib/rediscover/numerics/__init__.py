"""Mathematics without a study."""
