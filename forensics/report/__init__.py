"""Telling: a Case becomes a document, the document becomes Markdown and charts; nothing here reads or concludes."""
