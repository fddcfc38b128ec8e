"""Signing up and in, and a person's own settings; to be included at the root."""

from django.urls import include, path

from accounts import views

urlpatterns = [
    path("accounts/signup/", views.SignupView.as_view(), name="account_signup"),
    path("accounts/email/", views.EmailView.as_view(), name="account_email"),
    path("accounts/", include("allauth.account.urls")),
    path("settings/", views.show_settings, name="settings"),
    path("settings/profile/", views.save_profile, name="settings_profile"),
    path("settings/tokens/", views.make_token, name="settings_tokens"),
    path("settings/tokens/<int:pk>/revoke/", views.revoke_token, name="settings_token_revoke"),
    path("settings/delete/", views.delete_account, name="settings_delete"),
]
