"""What is made from tables: README, site, paper, benchmarks."""
