"""How a line travelled: one module or TOML definition each; the file name is the name."""
