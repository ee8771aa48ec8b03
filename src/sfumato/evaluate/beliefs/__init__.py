"""What an adversary who knows how a release was made believes of a person, and why the measures of it are fair."""
