"""What authors and their editors need of a rule file: layout, colours, names, and mechanical fixes."""
