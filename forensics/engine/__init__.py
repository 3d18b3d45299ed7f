"""Maps ingest over shards and adds up the digests."""

from forensics.engine.local import Reading, once, read_all, stream

__all__ = ["Reading", "once", "read_all", "stream"]
