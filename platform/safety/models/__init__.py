from safety.models.audit_entry import AuditEntry

__all__ = ["AuditEntry"]
