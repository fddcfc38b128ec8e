from safety.models.audit_entry import AuditEntry
from safety.models.notice import Notice
from safety.models.together import Together

__all__ = ["AuditEntry", "Notice", "Together"]
