"""Maps ingest over shards and adds up the digests."""

from forensics.engine.local import Reading, read_all, stream

__all__ = ["Reading", "read_all", "stream"]
