"""Time zones as people look for them: by the name of a city, in its own language too."""

from functools import cache

from accounts.models.user import list_time_zones

# Large cities after which no zone is named, and names that zones do not have.
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
    """Return the zone of that name or with that city, in whatever case; None where none is known."""
    return _zones_by_name().get(_fold(text))


@cache
def list_choices() -> tuple[tuple[str, str], ...]:
    """Return each zone with the names of its cities, as a list to choose from shows them."""
    return tuple((zone, ", ".join((_city(zone), *OTHER_NAMES.get(zone, ())))) for zone in list_time_zones())


@cache
def _zones_by_name() -> dict[str, str]:
    """Return all zones by their names, then by their cities: a name goes before a city of the same spelling."""
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
