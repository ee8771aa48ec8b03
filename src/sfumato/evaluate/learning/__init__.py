"""What classifiers learn from a release, beside raw data and the majority class."""
