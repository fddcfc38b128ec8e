from accounts.models.account_deletion import AccountDeletion
from accounts.models.idempotency_key import IdempotencyKey
from accounts.models.invitation import Invitation
from accounts.models.model_call import ModelCall
from accounts.models.sound_call import SoundCall
from accounts.models.token import Token
from accounts.models.user import User

__all__ = ["AccountDeletion", "IdempotencyKey", "Invitation", "ModelCall", "SoundCall", "Token", "User"]
