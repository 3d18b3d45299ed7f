"""From bytes to a Digest: what is each source, what does each line say, what remains of it."""
