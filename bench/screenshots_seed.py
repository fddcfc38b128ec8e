"""Read by bench/screenshots.py and run inside `manage.py shell`: one person's Kith, full enough to be looked at."""

import json
from datetime import timedelta

from django.utils import timezone, translation

from accounts.models import Token
from accounts.opening import open_account
from companions import making
from companions.characters import starting
from companions.models import Message, Reply
from companions.replies.finish import Said, finish
from companions.replies.start import start
from memory.embedding import embed_cue, embed_waiting
from memory.keeping import keep_fact
from memory.models import Recall
from memory.recall import recall, record

language, long_name = LANGUAGE, LONG_NAME
translation.activate(language)
now = timezone.now()
person = open_account("somebody@example.org", "correct horse battery", name="Robin", time_zone="Europe/Berlin", language=language)
Token.objects.issue(person, "laptop")

EN = [
    (18, "I have an exam on Friday, statistics. I take the first train to Leipzig.", "Then Friday begins early. What is the part of it that you would rather not be asked about?"),
    (17, "Regression. I can do the sums, I just never know which one they want.", "So the sums are not the trouble, the reading is. Take three old questions tonight and write only one line under each: *what is being asked?* Nothing more."),
    (14, "It went well! I even liked it.", "That is good to hear. Which question did you like?"),
    (1, "I have to be at the station at seven tomorrow. I am a little nervous.", "The same early train as for your exam. You were nervous then too, and it went well.\n\nFor tonight, perhaps:\n\n1. pack now, not at midnight\n2. one alarm, across the room\n3. tea, and no screen after ten"),
    (0, "Packed. What was the thing that my grandmother used to say about trains?", "That one should sit facing forward, \u201cbecause what is behind you comes along anyway\u201d. You told me in autumn, the day you found her timetable."),
]
ZH = [
    (18, "星期五考统计，我坐头一班火车去莱比锡。", "那星期五得早起了。哪一部分你最不想被问到？"),
    (17, "回归。算是会算，就是看不出题目要哪一种。", "那难的不是算，是读题。今晚找三道旧题，每道下面只写一行：*它在问什么？* 别的都不写。"),
    (14, "考得不错！我居然还挺喜欢。", "真好。你喜欢哪一道？"),
    (1, "明天七点要到车站，有点紧张。", "和考试那天是同一班早车。那时你也紧张，后来很顺利。\n\n今晚不妨：\n\n1. 现在收拾，别拖到半夜\n2. 只定一个闹钟，放远一点\n3. 喝杯茶，十点以后不看屏幕"),
    (0, "收拾好了。我外婆说火车的那句话是什么来着？", "她说要面朝前坐，“身后的东西，自己会跟来”。秋天你找到她那本旧时刻表的时候告诉我的。"),
]


def say(companion, days, text, answer, thought="", state=Reply.State.DONE, found=()):
    at = now - timedelta(days=days, minutes=7)
    started = start(companion, text, None, at)
    Reply.objects.filter(pk=started.reply.pk).update(state=Reply.State.THINKING, lease_by="seed")
    reply = Reply.objects.get(pk=started.reply.pk)
    if found:
        record(companion.pk, Recall.By.TURN, text, found, at, 4, reply_id=reply.pk)
    finish(reply, state, Said(text=answer, thought=thought, code="provider_unavailable" if state == "failed" else ""), at + timedelta(minutes=1), held_by="seed")
    return started


def made(character, days, **changed):
    fields = {name: getattr(character, name) for name in ("name", "persona", "greeting", "tint")}
    companion = making.create(person, **(fields | changed), now=now - timedelta(days=days))
    return companion


characters = {one.slug: one for one in starting(language)}
wren = made(characters["wren"], 19)
keep_fact(wren.pk, {"en": "Grandmother kept the timetable of 1961.", "zh-hans": "外婆留着 1961 年的列车时刻表。"}[language], now - timedelta(days=40), now - timedelta(days=40))
keep_fact(wren.pk, {"en": "Grandmother: sit facing forward on a train, what is behind you comes along anyway.", "zh-hans": "外婆说：坐火车要面朝前，身后的东西自己会跟来。"}[language], now - timedelta(days=40), now - timedelta(days=40))
lines = EN if language == "en" else ZH
for days, text, answer in lines[:-1]:
    say(wren, days, text, answer)
embed_waiting()
text, answer = lines[-1][1:]
found = recall(wren.pk, text, 3, now=now, zone=person.zone, vector=embed_cue(text))
say(wren, 0, text, answer, thought="The user asks about a saying. It is in memory." if language == "en" else "她问外婆说过的话，记忆里有。", found=found)
memory = wren.memories.filter(kind="fact").first()
memory.is_pinned = True
memory.save(update_fields=["is_pinned"])
Message.objects.filter(companion=wren, role="assistant").update(is_rehearsed=False)

marlow = made(characters["marlow"], 6)
say(marlow, 5, {"en": "Tell me about the mountains.", "zh-hans": "讲讲山里的事。"}[language], {"en": "Once, above the tree line, the heating failed and", "zh-hans": "有一回，过了林线，暖气坏了，"}[language], state=Reply.State.STOPPED)
trouble = say(marlow, 0, {"en": "Are you still there?", "zh-hans": "你还在吗？"}[language], "", state=Reply.State.FAILED)
hidden = marlow.messages.filter(role="user").order_by("said_at").first()
Message.objects.filter(pk=hidden.pk).update(is_hidden=True)

new = made(characters["ines"], 0, greeting="")
long = made(characters["ines"], 3, name=long_name, tint=310)
say(long, 2, "a" * 400 + " and then: " + "word " * 300, "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nfor n in range(10):\n    print('a very long line of code that does not end before the edge of the page is reached, surely', n)\n```\n\n> a quotation\n\n- one\n- two\n\n[a link](https://example.org/)")
busy = made(characters["wren"], 2, tint=280, name={"en": "Juniper", "zh-hans": "阿柏"}[language])
for number in range(40):
    say(busy, 1, f"{number}: " + "lorem ipsum " * (number % 7 + 1), f"{number}: " + "dolor sit amet " * (number % 11 + 1))


def talk(companion):
    return f"/companions/{companion.pk}/"


message = wren.messages.filter(role="user").first()
print(json.dumps({
    "welcome": "/", "login": "/accounts/login/", "signup": "/accounts/signup/", "reset": "/accounts/password/reset/", "not-here": "/nowhere/",
    "companions": "/companions/", "new": "/companions/new/", "new-from": "/companions/new/?from=wren",
    "talk": talk(wren), "talk-open": talk(wren), "talk-trouble": talk(marlow), "talk-new": talk(new), "talk-long": talk(long), "talk-much": talk(busy),
    "memories": talk(wren) + "memories/", "memories-search": talk(wren) + "memories/?q=train", "memories-none": talk(new) + "memories/",
    "memory": f"{talk(wren)}memories/{memory.pk}/", "memory-edit": f"{talk(wren)}memories/{memory.pk}/edit/", "memory-dialog": talk(wren) + "memories/",
    "message-delete": f"{talk(wren)}messages/{message.pk}/delete/",
    "companion": talk(wren) + "settings/", "settings": "/settings/", "password": "/accounts/password/change/", "email": "/accounts/email/", "logout": "/accounts/logout/",
}))
