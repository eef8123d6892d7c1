"""What writes stacks: a module for each tool."""
