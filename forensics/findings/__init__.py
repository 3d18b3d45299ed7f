"""From measured facts to graded claims: the differential diagnosis and what the sections say."""

from forensics.findings.diagnosis import diagnose

__all__ = ["diagnose"]
