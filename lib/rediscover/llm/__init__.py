"""Language models: client, records of replies, and what is read from them."""
