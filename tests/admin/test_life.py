"""Operators and lives: what was sent in a waking, timers set aside and wakings that failed, and another try for each."""

import re

import pytest
from django.db.models import Model
from django.test import Client

from accounts.models import User
from companions.models import Companion, Delivery, Message, Timer, Waking
from integrations.push.models import Subscription
from safety.models import AuditEntry
from tests.admin.conftest import Scene
from tests.admin.walk import MARKER, listing, page


def act(desk: Client, thing: Model, deed: str) -> str:
    chosen = {"action": deed, "_selected_action": [str(thing.pk)]}
    return desk.post(listing(type(thing)), chosen, follow=True).content.decode()


def test_a_waking_shows_what_was_sent_used_thought_and_held_back(desk: Client, scene: Scene) -> None:
    shown = desk.get(page(Waking.objects.get())).content.decode()
    for words in (f"You are {MARKER}.", "1 · think", f"My {MARKER}"):
        assert words in shown


@pytest.mark.parametrize(("model", "state"), [(Waking, "failed"), (Timer, "set_aside")])
def test_what_went_wrong_is_found_by_a_filter(
    desk: Client, scene: Scene, model: type[Model], state: str
) -> None:
    found = desk.get(listing(model), {"state__exact": state}).context["cl"].result_list
    assert [one.state for one in found] == [state]


def test_every_state_is_named_in_the_operators_language(desk: Client, scene: Scene) -> None:
    Waking.objects.update(state=Waking.State.SKIPPED)
    User.objects.filter(is_staff=True).update(language="zh-hans")
    shown = " ".join(desk.get(listing(Waking)).content.decode().split())
    assert re.search(r'<td class="field-shown_state[^>]*> <span [^>]*> 已跳过 </span>', shown)


def test_a_failed_waking_is_tried_again_on_record(desk: Client, scene: Scene, alice: User) -> None:
    Waking.objects.update(attempts=8)
    waking = Waking.objects.get()
    assert "Done for 1." in act(desk, waking, "again")
    waking.refresh_from_db()
    assert (waking.state, waking.attempts, waking.ended_at) == ("waiting", 0, None)
    assert waking.steps
    entry = AuditEntry.objects.get(deed="changed")
    assert (entry.kind, entry.object_id, entry.owner) == ("companions.Waking", str(waking.pk), alice)
    assert "This is not possible for 1 in its current state." in act(desk, waking, "again")
    assert AuditEntry.objects.filter(deed="changed").count() == 1
    act(desk, waking, "cancel")
    waking.refresh_from_db()
    assert (waking.state, waking.reason) == ("skipped", "cancelled")


def test_a_page_offers_what_can_be_done_in_that_state(desk: Client, scene: Scene) -> None:
    waking = Waking.objects.get()
    for state, deed in (("failed", "again"), ("waiting", "cancel"), ("skipped", None)):
        waking.refresh_from_db()
        assert waking.state == state
        shown = desk.get(page(waking)).content.decode()
        assert re.findall(r'<button [^>]*name="action" value="(\w+)"', shown) == ([deed] if deed else [])
        for address in re.findall(r'<form class="kith-buttons" method="post" action="([^"]+)"', shown):
            desk.post(address, {"action": deed, "_selected_action": str(waking.pk)})


def test_what_leaves_a_filtered_list_by_an_action_is_counted_as_done(desk: Client, scene: Scene) -> None:
    chosen = {"action": "again", "_selected_action": [str(Waking.objects.get().pk)]}
    shown = desk.post(f"{listing(Waking)}?state__exact=failed", chosen, follow=True).content.decode()
    assert "Done for 1." in shown
    assert "not possible" not in shown


def test_a_timer_is_fired_by_force_on_record(desk: Client, scene: Scene) -> None:
    timer = Timer.objects.get(name="evening")
    assert "Done for 1." in act(desk, timer, "fire")
    fired = Waking.objects.get(timer=timer)
    assert (fired.origin, fired.is_asked_for) == ("forced", False)
    entry = AuditEntry.objects.get(deed="changed")
    assert (entry.kind, entry.object_id) == ("companions.Timer", str(timer.pk))


def test_a_timer_set_aside_is_set_again_where_it_can_be_read(desk: Client, scene: Scene) -> None:
    timer = Timer.objects.get(state="set_aside")
    assert "This is not possible for 1 in its current state." in act(desk, timer, "again")
    assert not AuditEntry.objects.filter(deed="changed").exists()
    Timer.objects.filter(pk=timer.pk).update(schedule="cron:0 9 * * *")
    assert "Done for 1." in act(desk, timer, "again")
    timer.refresh_from_db()
    assert (timer.state, timer.error, timer.attempts) == ("active", "", 0)


def test_whoever_may_only_look_does_neither(client: Client, scene: Scene, opal: User) -> None:
    client.force_login(opal)
    act(client, Waking.objects.get(), "again")
    act(client, Timer.objects.get(name="evening"), "fire")
    assert Waking.objects.get().state == "failed"


def test_a_subscription_shows_no_secret(desk: Client, scene: Scene) -> None:
    shown = desk.get(page(Subscription.objects.get())).content.decode()
    assert "sealed" not in shown
    assert "endpoint" not in shown


def test_a_companions_page_leads_to_its_life(desk: Client, scene: Scene, mira: Companion) -> None:
    shown = desk.get(page(scene.companion)).content.decode()
    for model in (Timer, Waking):
        assert f"{listing(model)}?companion__id__exact={scene.companion.pk}" in shown


def test_a_timers_page_leads_to_what_came_of_it_and_a_message_to_its_delivery(
    desk: Client, scene: Scene
) -> None:
    waking = Waking.objects.exclude(timer=None).latest("due_at")
    assert page(waking) in desk.get(page(waking.timer)).content.decode()
    Message.objects.filter(pk=scene.message.pk).update(waking=waking)
    delivery = Delivery.objects.get(message=scene.message)
    shown = desk.get(page(scene.message)).content.decode()
    assert page(waking) in shown
    assert page(delivery) in shown
