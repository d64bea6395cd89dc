"""What is kept of a match: its journal, its record, and what is made of them."""
