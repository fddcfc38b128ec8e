from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class KithConfig(AppConfig):
    name = "config"
    verbose_name = "Kith"


class KithAdminConfig(AdminConfig):
    default_site = "config.admin_site.KithAdminSite"
