"""URLs of signing up, signing in and a person's own settings, to be included at the root."""

from allauth.mfa.recovery_codes.views import view_recovery_codes
from allauth.mfa.totp.views import activate_totp
from django.urls import include, path
from django.views.decorators.cache import never_cache

from accounts.pages import devices, own_models, views

urlpatterns = [
    path("accounts/signup/", views.SignupView.as_view(), name="account_signup"),
    path("accounts/signup/withdraw/", views.withdraw_signup, name="signup_withdraw"),
    path("accounts/signup/send-again/", views.send_confirmation_again, name="signup_send_again"),
    path("accounts/email/", views.EmailView.as_view(), name="account_email"),
    path("accounts/confirm-email/<str:key>/", views.ConfirmEmailView.as_view(), name="account_confirm_email"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/devices/", devices.DevicesView.as_view(), name="usersessions_list"),
    path("accounts/devices/<int:pk>/sign-out/", devices.sign_out_device, name="device_sign_out"),
    # What these show must not reappear on the browser's "back".
    path("accounts/2fa/totp/activate/", never_cache(activate_totp), name="mfa_activate_totp"),
    path("accounts/2fa/recovery-codes/", never_cache(view_recovery_codes), name="mfa_view_recovery_codes"),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("language/", views.switch_language, name="set_language"),
    path("settings/", views.show_settings, name="settings"),
    path("settings/profile/", views.save_profile, name="settings_profile"),
    path("settings/tokens/", views.make_token, name="settings_tokens"),
    path("settings/tokens/<int:pk>/revoke/", views.revoke_token, name="settings_token_revoke"),
    path("settings/models/", own_models.show_own_models, name="own_models"),
    path("settings/models/add/", own_models.add_own_model, name="own_model_add"),
    path("settings/models/list/", own_models.list_models, name="own_models_list"),
    path("settings/models/<int:pk>/", own_models.edit_own_model, name="own_model"),
    path("settings/models/<int:pk>/list/", own_models.list_models, name="own_model_list"),
    path("settings/models/<int:pk>/try/", own_models.try_own_model, name="own_model_try"),
    path("settings/models/<int:pk>/delete/", own_models.delete_own_model, name="own_model_delete"),
    path("settings/delete/", views.delete_account, name="settings_delete"),
]
