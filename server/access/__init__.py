"""Access control: authentication and authorization for the web pages and the API."""
