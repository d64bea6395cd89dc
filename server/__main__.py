"""`python -m server` is `ggp`, for processes that start others of their kind."""

from server.commands.main import main

if __name__ == "__main__":
    main()
