"""Look-up of time zones by their names and the names of cities, some of them in other languages."""

from functools import cache

from accounts.models.user import list_time_zones

# Large cities that have no zone of their own name, and other names of the cities that have.
OTHER_NAMES = {
    "America/Chicago": ("Dallas", "Houston"),
    "America/Los_Angeles": ("San Diego", "San Francisco", "Seattle"),
    "America/New_York": ("Atlanta", "Boston", "Miami", "Philadelphia", "Washington"),
    "America/Sao_Paulo": ("Brasília", "Rio de Janeiro", "São Paulo"),
    "America/Toronto": ("Montreal", "Ottawa"),
    "Asia/Ho_Chi_Minh": ("Hanoi", "Saigon"),
    "Asia/Hong_Kong": ("香港",),
    "Asia/Kolkata": ("Bangalore", "Bengaluru", "Chennai", "Delhi", "Mumbai"),
    "Asia/Macau": ("澳门",),
    "Asia/Seoul": ("首尔",),
    "Asia/Shanghai": (
        *("Beijing", "Chengdu", "Guangzhou", "Hangzhou", "Nanjing", "Shenzhen", "Wuhan"),
        *("北京", "上海", "广州", "深圳", "成都", "杭州", "南京", "武汉", "重庆", "西安"),
    ),
    "Asia/Singapore": ("新加坡",),
    "Asia/Taipei": ("台北",),
    "Asia/Tokyo": ("Kyoto", "Osaka", "东京", "東京", "大阪"),
    "Asia/Urumqi": ("乌鲁木齐",),
    "Australia/Sydney": ("Canberra",),
    "Europe/Berlin": ("Cologne", "Frankfurt", "Hamburg", "Köln", "Munich", "München", "柏林"),
    "Europe/Kyiv": ("Kiev",),
    "Europe/London": ("Edinburgh", "Manchester", "伦敦"),
    "Europe/Madrid": ("Barcelona",),
    "Europe/Paris": ("Lyon", "Marseille", "巴黎"),
    "Europe/Rome": ("Milan", "Naples", "Roma"),
    "Europe/Zurich": ("Basel", "Bern", "Geneva", "Zürich"),
}
MAX_NAME_CHARACTERS = 64


def find_time_zone(text: str) -> str | None:
    """Return the time zone with that name or city, regardless of case, or None if there is none."""
    return _zones_by_name().get(_fold(text))


@cache
def list_choices() -> tuple[tuple[str, str], ...]:
    """Return pairs of a time zone's name and the names of its cities, for a list to choose from."""
    return tuple((zone, ", ".join((_city(zone), *OTHER_NAMES.get(zone, ())))) for zone in list_time_zones())


@cache
def _zones_by_name() -> dict[str, str]:
    """Return the time zones by their folded names and cities; a zone's name takes precedence over a city's."""
    zones = list_time_zones()
    found = {_fold(zone): zone for zone in zones}
    cities = [(name, zone) for zone, names in OTHER_NAMES.items() for name in names]
    for name, zone in [*cities, *((_city(zone), zone) for zone in zones)]:
        found.setdefault(_fold(name), zone)
    return found


def _city(zone: str) -> str:
    return zone.rpartition("/")[2].replace("_", " ")


def _fold(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()
