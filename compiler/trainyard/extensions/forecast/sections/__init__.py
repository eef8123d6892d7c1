"""What the report says of what will be: costs, admission, time, failures, memory."""
