"""Loss scales: what gradients would be in half precision, and which scale suits them."""
