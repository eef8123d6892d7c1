"""What passes see of the disk, and what earlier runs said."""
