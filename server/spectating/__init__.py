"""What somebody may see of matches, now and after the end: the API and the pages both ask here."""
