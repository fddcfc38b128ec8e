from safety.models.audit import AuditEntry, AuditKey
from safety.models.continuous_use import ContinuousUse
from safety.models.notice import Notice
from safety.models.operator_access import OperatorAccess

__all__ = ["AuditEntry", "AuditKey", "ContinuousUse", "Notice", "OperatorAccess"]
