"""From one framework to the other: weights under the names, and in the shapes, that the other one knows."""
