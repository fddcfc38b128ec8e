from integrations.push.models.subscription import Subscription

__all__ = ["Subscription"]
