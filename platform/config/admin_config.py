from django.contrib.admin.apps import AdminConfig


class KithAdminConfig(AdminConfig):
    default_site = "config.admin_site.KithAdminSite"
