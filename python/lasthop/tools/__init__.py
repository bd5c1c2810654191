"""Tools of a checkout: measuring speed, running the checks. They are not part of the API."""
