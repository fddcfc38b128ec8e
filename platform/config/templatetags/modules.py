"""A script that is a module, and what it imports."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.static_files import list_imports

register = template.Library()


@register.simple_tag
def module(path: str) -> SafeString:
    """Return the script's element, before it a link for each module that it imports.

    The browser fetches them all at once, not each when the one before it has come, and after what it paints with.
    """
    link = '<link rel="modulepreload" href="{}" fetchpriority="low">'
    links = format_html_join("", link, ((static(name),) for name in list_imports(path)))
    return format_html('{}<script src="{}" type="module" fetchpriority="low"></script>', links, static(path))
