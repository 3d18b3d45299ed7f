"""The ground: nouns that every wing knows, and nothing that one wing alone needs."""
