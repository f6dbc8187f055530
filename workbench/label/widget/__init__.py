"""The labelling widget: a session of steps, the panel that shows it, and the keys and clicks that drive it."""
