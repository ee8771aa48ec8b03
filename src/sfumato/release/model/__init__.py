"""What follows from measured tables: a model of the class, and synthetic records. It spends no privacy budget."""
