"""Read by bench/screenshots and run inside `manage.py shell`: one person's Kith, full enough to be looked at."""

import json
import os
import tomllib
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone, translation

from accounts.models import ModelCall, Token, User
from accounts.signup import create_account
from bench.screenshots.admin import admin_pages, operator, provider
from bench.screenshots.archives import keep_archive
from bench.screenshots.cards import keep_card
from bench.screenshots.gallery import publish
from bench.screenshots.given import change_character, give, learn, recall_for_months, write_lore
from bench.screenshots.lives import live
from bench.screenshots.mind import grow
from bench.screenshots.minds import compare, send_away
from bench.screenshots.pasts import bring_past, keep_past, keep_text
from companions import creation
from companions.branches.operations import fork, rename
from companions.characters import load_characters
from companions.conversations.bookmarks import set_bookmark
from companions.life.timers.timers import set_timer
from companions.models import Branch, ForgetProposal, Message, Mind, Reply
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import start
from companions.transfer.card_import import make_companion
from memory.core_memory import set_slot, write_block
from memory.embedding import embed_cue, embed_waiting
from memory.models import Change, Consolidation, Recall, Thread
from memory.models.core_memory import By
from memory.recall.recall import recall, record
from memory.store import keep_fact
from memory.threads import close_thread, open_thread
from providers.selection import choose_chat

language, long_name = os.environ["SEED_LANGUAGE"], os.environ["SEED_LONG_NAME"]
translation.activate(language)
now = timezone.now()
person = create_account(
    "somebody@example.org",
    "correct horse battery",
    name="Robin",
    time_zone="Europe/Berlin",
    language=language,
)
person.tokens_per_day = 10**9  # what the talks of many days take counts as of one
person.save()
Token.objects.issue(person, "laptop")

TALK = tomllib.loads((settings.BASE_DIR / "bench" / "screenshots" / "talk.toml").read_text())
lines = [(one["days"], one["said"], one["answered"].strip()) for one in TALK[language]]


@transaction.atomic  # the web process's pulse would take over a reply of another day as soon as it saw it
def say(companion, days, text, answer, thought="", state=Reply.State.DONE, found=()):
    at = now - timedelta(days=days, minutes=7)
    started = start(companion, text, None, at)
    Reply.objects.filter(pk=started.reply.pk).update(state=Reply.State.THINKING, lease_by="seed")
    reply = Reply.objects.get(pk=started.reply.pk)
    if found:
        record(companion.pk, Recall.By.TURN, text, found, at, 4, reply_id=reply.pk)
    finish(
        reply,
        state,
        Said(text=answer, thought=thought, code="provider_unavailable" if state == "failed" else ""),
        at + timedelta(minutes=1),
        held_by="seed",
    )
    return started


def made(character, days, **changed):
    fields = {name: getattr(character, name) for name in ("name", "persona", "tint", "suggestions", "face")}
    fields["greeting"] = character.greetings[0]
    companion = creation.create(person, **(fields | changed), now=now - timedelta(days=days))
    return companion


characters = {one.slug: one for one in load_characters(language)}
wren = made(characters["wren"], 19)
keep_fact(
    wren.pk,
    {"en": "Grandmother kept the timetable of 1961.", "zh-hans": "外婆留着 1961 年的列车时刻表。"}[language],
    now - timedelta(days=40),
    now - timedelta(days=40),
)
keep_fact(
    wren.pk,
    {
        "en": "Grandmother: sit facing forward on a train, what is behind you comes along anyway.",
        "zh-hans": "外婆说：坐火车要面朝前，身后的东西自己会跟来。",
    }[language],
    now - timedelta(days=40),
    now - timedelta(days=40),
)
for days, text, answer in lines[:-1]:
    say(wren, days, text, answer)
embed_waiting(wren.pk)
text, answer = lines[-1][1:]
found = recall(wren.pk, text, 3, now=now, zone=person.zone, vector=embed_cue(text))
say(
    wren,
    0,
    text,
    answer,
    thought="The user asks about a saying. It is in memory."
    if language == "en"
    else "她问外婆说过的话，记忆里有。",
    found=found,
)
memory = wren.memories.filter(kind="fact").first()
memory.is_pinned = True
memory.save(update_fields=["is_pinned"])
Message.objects.filter(companion=wren, role="assistant").update(is_rehearsed=False)

marlow = made(characters["marlow"], 6)
say(
    marlow,
    5,
    {"en": "Tell me about the mountains.", "zh-hans": "讲讲山里的事。"}[language],
    {"en": "Once, above the tree line, the heating failed and", "zh-hans": "有一回，过了林线，暖气坏了，"}[
        language
    ],
    state=Reply.State.STOPPED,
)
trouble = say(
    marlow, 0, {"en": "Are you still there?", "zh-hans": "你还在吗？"}[language], "", state=Reply.State.FAILED
)
hidden = marlow.messages.filter(role="user").order_by("said_at").first()
Message.objects.filter(pk=hidden.pk).update(is_hidden=True)

new = made(characters["ines"], 0, greeting="")
long = made(characters["ines"], 3, name=long_name, tint=310)
say(
    long,
    2,
    "a" * 400 + " and then: " + "word " * 300,
    TALK["everything"],
)
asked, answered = {
    "en": ("And what does that mean?", "It says that…"),
    "zh-hans": ("那是什么意思？", "意思是……"),
}[language]
asking = say(long, 1, asked, answered).message
Message.objects.filter(pk=asking.pk).update(quoted=asking.parent_id)
busy = made(characters["wren"], 2, tint=280, name={"en": "Juniper", "zh-hans": "阿柏"}[language])
for number in range(40):
    say(
        busy,
        1,
        f"{number}: " + "lorem ipsum " * (number % 7 + 1),
        f"{number}: " + "dolor sit amet " * (number % 11 + 1),
    )

IN_MIND = {
    "en": [
        ("grandmother", "Her timetable of 1961 lies in the blue drawer.", "companion"),
        ("birthday", "Robin: 3 March. No party, a walk.", "user"),
        ("trains", "Robin sits facing forward, always.", "companion"),
    ],
    "zh-hans": [
        ("外婆", "1961 年的时刻表在蓝色抽屉里。", "companion"),
        ("生日", "Robin：三月三日。", "user"),
    ],
}
for name, told, by in IN_MIND[language]:
    set_slot(wren.pk, name, told, by=By(by), now=now)
plans = {
    "en": ("plans", "What we want to do", "Prague by the night train.\nAsk about the sleeper."),
    "zh-hans": ("计划", "想一起做的事", "坐夜车去布拉格。\n问问卧铺。"),
}[language]
write_block(wren.pk, plans[0], plans[2], by=By.COMPANION, now=now, description=plans[1], most_characters=500)
wren.sessions.filter(ended_at=None).update(scratch=plans[2])
for number in range(100):
    set_slot(
        busy.pk,
        f"{'slot' * (number % 14 + 1)} {number}"[:60],
        "lorem" * (number % 40 + 1),
        by=By.USER,
        now=now,
    )
write_block(busy.pk, "b" * 60, "x" * 2000, by=By.USER, now=now, is_read_only=True)

night = Consolidation.objects.create(
    companion=wren, night_of=now.date(), asked_at=now, next_at=now, ended_at=now, state="done"
)
stands = {"status": "new", "progress": 0, "excitement": 5}
became = {"status": "under_way", "progress": 20, "excitement": 8}
done_by_night = {
    "en": [
        ("merged", ["Takes the night train to Prague in May", "In May it is Prague, by the night train"]),
        ("contradiction", ["Likes coffee in the morning", "Does not like coffee in the morning"]),
        (
            "insight",
            ["Trains are where it is easiest to talk", "Took the sleeper to Vienna", "Reads on trains"],
        ),
        ("reviewed", ["Learn enough Czech to order breakfast"]),
    ],
    "zh-hans": [
        ("merged", ["五月坐夜车去布拉格", "五月要坐夜车到布拉格去"]),
        ("contradiction", ["早上喜欢喝咖啡", "早上不喜欢喝咖啡"]),
        ("insight", ["在火车上最容易聊起来", "坐过去维也纳的卧铺", "在火车上看书"]),
        ("reviewed", ["学一点捷克语，能点早餐就行"]),
    ],
}[language]
for number, (kind, texts) in enumerate(done_by_night, start=1):
    about = [keep_fact(wren.pk, text, now, now) for text in texts]
    before = {"merged": {"became": {"evidence": 3}}, "reviewed": {**stands, "became": became}}.get(kind, {})
    told = {"number": number, "kind": kind, "memory": about[0], "before": before}
    Change.objects.create(companion=wren, consolidation=night, **told).others.set(about[1:])

grow(wren, busy, marlow, language, now)
read = give(wren, language, now)
lorebook = write_lore(wren, language, now)
version = change_character(wren, language, now)
recall_for_months(wren, now)
learn(wren, language, now)
operator("correct horse battery", language)
provider(person, now)
asker = made(characters["wren"], 2, tint=120, name={"en": "Alder", "zh-hans": "阿桤"}[language])
secret, kept, asked, shown, exam = {
    "en": (
        "My sister Marta is pregnant. Nobody knows yet.",
        "I will tell nobody.",
        "Please forget that Marta is pregnant.",
        "It stands below, and you decide.",
        "Robin takes the exam in Czech.",
    ),
    "zh-hans": (
        "我妹妹玛尔塔怀孕了，还没有人知道。",
        "我谁也不告诉。",
        "请忘掉玛尔塔怀孕了。",
        "都在下面，由你决定。",
        "Robin 要参加捷克语考试。",
    ),
}[language]
say(asker, 1, secret, kept)
answered = say(asker, 0, asked, shown).reply
ForgetProposal.objects.create(
    companion=asker, reply=answered, subject=secret.split("，")[0].split(".")[0], made_at=now
)
open_thread(keep_fact(asker.pk, exam, now, now), (now + timedelta(days=1)).date(), now)
close_thread(open_thread(keep_fact(asker.pk, secret, now, now), None, now), Thread.State.SETTLED, now)
Mind.objects.create(companion=wren, model="gemma-3-12b-it", preset="lively", sampling={"temperature": 0.85})
for purpose, tokens in (("answer", 61_000), ("waking", 9_000), ("learning", 14_000), ("closing", 8_000)):
    ModelCall.objects.create(
        user=person,
        companion=wren,
        purpose=purpose,
        model="gemma-3-12b-it",
        prompt_tokens=tokens,
        started_at=now - timedelta(days=1),
    )
choose_chat("One", "http://127.0.0.1:9/v1", "qwen3:4b", context_tokens=16_384)
choose_chat("Two", "http://127.0.0.1:9/v1", "gemma-3-12b-it", context_tokens=32_768)
elm = made(characters["wren"], 2, tint=190, name={"en": "Elm", "zh-hans": "阿榆"}[language])
for _days, text, answer in lines:
    say(elm, 1, text, answer)
compare(elm, language, now)
away = made(characters["wren"], 2, tint=220, name={"en": "Rowan", "zh-hans": "阿枫"}[language])
send_away(away, say(away, 0, text, "", state=Reply.State.FAILED).reply)
reminded = made(characters["wren"], 2, tint=130, name={"en": "Ash", "zh-hans": "阿梣"}[language])
asked_for, later = {
    "en": ("Remind me in two hours to water the plants, please.", "And remind me tonight to call Ana."),
    "zh-hans": ("请两个小时后提醒我浇花。", "今晚再提醒我给安娜打电话。"),
}[language]
kept_in_mind = {"en": "I will.", "zh-hans": "好的。"}[language]
started = say(reminded, 0, asked_for, kept_in_mind)
note = {"en": "Water the plants", "zh-hans": "浇花"}[language]
set_timer(reminded, "2h", note, by="companion", now=now, is_asked_for=True, message=started.message)
say(reminded, 0, later, kept_in_mind)
parted = made(characters["wren"], 2, tint=70, name={"en": "Linden", "zh-hans": "阿椴"}[language])
for _days, text, answer in lines[:3]:
    say(parted, 1, text, answer)
first_answer = parted.messages.filter(role="assistant", parent__role="user").order_by("said_at").first()
fork(parted, first_answer.pk, now)
say(parted, 0, lines[3][1], lines[3][2])
fork(parted, first_answer.parent_id, now)
say(parted, 0, lines[4][1], lines[4][2])
other_branch = Branch.objects.filter(companion=parted, left_at__isnull=False).order_by("pk").first()
rename(other_branch, {"en": "As it was at first", "zh-hans": "最初的样子"}[language])
live(elm, language, now)
told_of, very_long = wren.diary.first(), busy.diary.last()


def talk(companion):
    return f"/companions/{companion.pk}/"


message = wren.messages.filter(role="user").first()
set_bookmark(message, timezone.now())
odessa = make_companion(keep_card(person, now, marlow), timezone.now(), greeting=1)
card = keep_card(person, now, marlow)
guest = create_account("guest@example.org", "correct horse battery", name="Guest")
published = publish(odessa, marlow, User.objects.get(email="operator@example.org"), guest, now)
past_import, past_upload = bring_past(odessa, now), keep_past(person, now)
past_text = keep_text(person, now)
archive = keep_archive(person, now, marlow)
print(
    json.dumps(
        {
            "always": talk(wren) + "always/",
            "always-edit": talk(wren) + f"always/slots/{wren.slots.first().pk}/?edit",
            "always-empty": talk(new) + "always/",
            "always-full": talk(busy) + "always/",
            "diary": talk(wren) + "diary/",
            "diary-empty": talk(new) + "diary/",
            "diary-full": talk(busy) + "diary/",
            "diary-failed": talk(marlow) + "diary/",
            "diary-entry": talk(wren) + f"diary/{told_of.pk}/",
            "diary-entry-long": talk(busy) + f"diary/{very_long.pk}/",
            "diary-said": talk(wren) + f"diary/{told_of.pk}/said/",
            "diary-clear": talk(wren) + "diary/clear/",
            "diary-dialog": talk(wren) + "diary/",
            "profile": talk(wren) + "profile/",
            "profile-edit": talk(wren) + "profile/edit/",
            "profile-compare": talk(wren) + "profile/compare/",
            "profile-restore": talk(wren) + "profile/1/restore/",
            "profile-empty": talk(new) + "profile/",
            "profile-full": talk(busy) + "profile/",
            "profile-full-compare": talk(busy) + "profile/compare/",
            "self-concept": talk(wren) + "self-concept/",
            "menu-open": talk(long),
            "documents": talk(wren) + "documents/",
            "documents-question": talk(wren) + "documents/?q=night+train",
            "documents-none": talk(new) + "documents/",
            "document": talk(wren) + f"documents/{read.pk}/",
            "document-delete": talk(wren) + f"documents/{read.pk}/delete/",
            "lore": talk(wren) + "lore/",
            "lore-none": talk(long) + "lore/",
            "lore-tried": talk(wren) + "lore/",
            "lore-book": talk(wren) + f"lore/{lorebook.pk}/",
            "lore-settings": talk(wren) + f"lore/{lorebook.pk}/settings/",
            "lore-entry": talk(wren) + f"lore/{lorebook.pk}/entries/{lorebook.entries.all()[0].pk}/",
            "lore-entry-new": talk(wren) + f"lore/{lorebook.pk}/entries/add/",
            "lore-delete": talk(wren) + f"lore/{lorebook.pk}/delete/",
            "talk-lore": talk(wren),
            "about-tried": talk(odessa) + "about/",
            "about-versions": talk(wren) + "about/versions/",
            "about-versions-none": talk(long) + "about/versions/",
            "about-version": talk(wren) + f"about/versions/{version.pk}/",
            "mind": talk(wren) + "mind/",
            "mind-values": talk(wren) + "mind/",
            "mind-file": talk(wren) + "mind/",
            "mind-new": talk(long) + "mind/",
            "forgetting": talk(wren) + "forgetting/",
            "forgetting-open": talk(wren) + "forgetting/",
            "forgetting-other": talk(wren) + "forgetting/?policy=memory_bank&days=30&cue=train&recalled=7:",
            "forgetting-none": talk(new) + "forgetting/",
            "forgetting-refused": talk(wren) + "forgetting/?policy=none",
            "delete-chosen": talk(wren) + "memories/",
            "delete-all": talk(wren) + "memories/?kind=fact",
            "nights": talk(wren) + "nights/",
            "nights-none": talk(new) + "nights/",
            "welcome": "/",
            "login": "/accounts/login/",
            "signup": "/accounts/signup/",
            "reset": "/accounts/password/reset/",
            "not-here": "/nowhere/",
            "companions": "/companions/",
            "new": "/companions/new/",
            "new-own": "/companions/new/own/",
            "new-card": f"/companions/new/card/{card.pk}/",
            "new-past": f"/companions/new/past/{past_upload.pk}/?companion={odessa.pk}&learn=on",
            "new-past-text": f"/companions/new/past/{past_text.pk}/",
            "new-past-text-wrong": f"/companions/new/past/{past_text.pk}/?pattern=%7Bname%7D+%3E%3E",
            "new-past-text-read": f"/companions/new/past/{past_text.pk}/?pattern=%7Bname%7D+%3E%3E+%7Btext%7D",
            "imports": talk(odessa) + "settings/pasts/",
            "imports-none": talk(new) + "settings/pasts/",
            "imports-undo": talk(odessa) + f"settings/pasts/{past_import.pk}/undo/",
            "new-archive": f"/companions/new/archive/{archive.pk}/",
            "about-card": talk(odessa) + "about/",
            "talk": talk(wren),
            "talk-open": talk(wren),
            "talk-told": talk(wren),
            "talk-trouble": talk(marlow),
            "talk-forget": talk(asker),
            "talk-away": talk(away),
            "talk-offered": talk(elm),
            "talk-timers": talk(reminded),
            "talk-branches": talk(parted),
            "branches": talk(parted) + "branches/",
            "branches-none": talk(new) + "branches/",
            "branch-compare": f"{talk(parted)}branches/{other_branch.pk}/compare/",
            "branch-delete": f"{talk(parted)}branches/{other_branch.pk}/delete/",
            "message-edit": f"{talk(wren)}messages/{message.pk}/edit/",
            "comparison": talk(elm) + "mind/comparison/",
            "comparison-none": talk(away) + "mind/comparison/",
            "pursuits": talk(asker) + "pursuits/",
            "pursuits-full": talk(elm) + "pursuits/",
            "pursuits-change": f"{talk(elm)}pursuits/?change={elm.memories.filter(kind='goal').last().pk}",
            "pursuits-none": talk(new) + "pursuits/",
            "talk-at": f"{talk(wren)}?at={message.pk}",
            "search": talk(wren) + "search/",
            "search-dialog": talk(wren),
            "search-found": talk(wren) + "search/?q=train",
            "search-none": talk(wren) + "search/?q=xylophone",
            "bookmarks": talk(wren) + "bookmarks/",
            "bookmarks-none": talk(new) + "bookmarks/",
            "talk-new": talk(new),
            "talk-quote": talk(long),
            "talk-keys": talk(long),
            "talk-long": talk(long),
            "talk-much": talk(busy),
            "memories": talk(wren) + "memories/",
            "memories-search": talk(wren) + "memories/?q=train",
            "memories-none": talk(new) + "memories/",
            "memory": f"{talk(wren)}memories/{memory.pk}/",
            "memory-edit": f"{talk(wren)}memories/{memory.pk}/edit/",
            "memory-dialog": talk(wren) + "memories/",
            "message-delete": f"{talk(wren)}messages/{message.pk}/delete/",
            "companion": talk(wren) + "settings/",
            "about": talk(wren) + "about/",
            "advanced": talk(wren) + "settings/advanced/",
            "feels": talk(wren) + "life/inner-state/",
            "life": talk(wren) + "life/",
            "life-full": talk(elm) + "life/",
            "life-long": talk(long) + "life/",
            "feels-full": talk(elm) + "life/inner-state/",
            "may-write": talk(wren) + "life/settings/",
            "timers": talk(wren) + "timers/",
            "timers-full": talk(elm) + "timers/",
            "call": talk(elm) + "call/",
            "voice": talk(wren) + "voice/",
            "face": talk(wren) + "face/",
            "companion-delete": talk(wren) + "settings/",
            "companion-long": talk(long) + "settings/",
            "context": talk(wren) + "settings/context/",
            "settings": "/settings/",
            "password": "/accounts/password/change/",
            "email": "/accounts/email/",
            "logout": "/accounts/logout/",
            "account-ways": "/accounts/2fa/",
            "account-app": "/accounts/2fa/totp/activate/",
            "account-passkey": "/accounts/2fa/webauthn/add/",
            "account-devices": "/accounts/devices/",
            "share": "/share/?text=The+night+train+to+Vienna&url=https%3A%2F%2Fexample.org%2Ftrains",
            "offline": "/offline/",
            **published,
            **admin_pages(),
        }
    )
)
