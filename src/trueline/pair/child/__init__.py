"""What runs in the process of a user's model: few imports, and none of what TrueLine itself runs on."""
