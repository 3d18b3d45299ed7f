"""What a monitor remembers: one module each; the file name is the name."""
