"""What the lab's packages of all frameworks share: calls, answers, names, and values out of their descriptions."""
