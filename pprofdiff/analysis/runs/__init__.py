"""What is known of each run by itself, and which runs stand apart."""
