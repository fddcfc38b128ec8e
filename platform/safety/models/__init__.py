from safety.models.audit_entry import AuditEntry
from safety.models.audit_key import AuditKey
from safety.models.notice import Notice
from safety.models.operator_access import OperatorAccess
from safety.models.together import Together

__all__ = ["AuditEntry", "AuditKey", "Notice", "OperatorAccess", "Together"]
