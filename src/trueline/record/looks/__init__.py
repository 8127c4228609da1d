"""What the checks of a run ask for and no other reader does: looked at rarely, in the first steps and ever less often."""
