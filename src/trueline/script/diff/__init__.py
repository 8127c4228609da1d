"""Two traces: which event is which, what goes into them otherwise, and where that stands."""
