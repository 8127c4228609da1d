import not_there_at_all  # noqa: F401
