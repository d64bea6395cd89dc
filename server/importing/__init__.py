"""Rule files by others, many at once: from folders, archives and addresses to games of ours."""
