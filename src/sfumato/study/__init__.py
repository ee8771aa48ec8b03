"""The study: what the owner declares about one table, and a purpose as the view that a method works with."""
