"""The language: terms, KIF text, rule files, and what is said of them where they are wrong."""
