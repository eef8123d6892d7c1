"""What people say, and what it means on any platform."""
