"""The template tag for a script that is a JavaScript module."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.http.static_files import list_imports

register = template.Library()


@register.simple_tag
def module(path: str) -> SafeString:
    """Return the module's script element, preceded by a preload link for each module that it imports.

    The browser then fetches them all at once instead of level by level, and after what it needs to paint the page.
    """
    link = '<link rel="modulepreload" href="{}" fetchpriority="low">'
    links = format_html_join("", link, ((static(name),) for name in list_imports(path)))
    return format_html('{}<script src="{}" type="module" fetchpriority="low"></script>', links, static(path))
