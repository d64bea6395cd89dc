"""What a validation found, in the forms that people and programs read."""
