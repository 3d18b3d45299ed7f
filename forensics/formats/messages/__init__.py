"""What a line says: one TOML definition each, a module where code is needed; the file name is the name."""
