"""Tools of a checkout: measuring speed, running the checks. They are no part of the API."""
