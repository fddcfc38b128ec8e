"""What is stored of a person's; to be included at the root."""

from django.urls import path

from files import views

urlpatterns = [path("files/<uuid:file_id>/", views.give, name="file")]
