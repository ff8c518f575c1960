"""The view of a run, asked as a page asks it: what it sends, what it saves, how it ends."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from ipywidgets.widgets import widget

import mlnlab as ml
from mlnlab.display.scene.items import MIME_TYPE
from mlnlab.display.scene.patches import NUMBERS
from mlnlab.steps.runs.live import stop_all
from mlnlab.widgets.run.run_view import RunView
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view import view as views
from tests.support.patience import PATIENCE
from tests.support.patience import wait_until as until
from tests.widgets.walks import PICTURE, Walking, apart, draw


class Page:
    """Stands for a page: draws what it is sent by the very rules of the modules."""

    def __init__(self, view):
        self.view, self.frames, self.drawn, self.bytes = view, [], [], 0
        view.send = self.take
        view.observe(self.rest, "status")
        self.say("opened", view="page")
        self.rest()

    def say(self, kind, **content):
        self.view._receive_message({"type": kind, **content}, [])

    def rest(self, _change=None):
        self.scene = json.loads(json.dumps(self.view.scene))

    def take(self, message, buffers=None):
        self.frames.append(message)
        self.bytes += len(json.dumps(message)) + sum(map(len, buffers or ()))
        if "scene" in message:
            self.scene = json.loads(json.dumps(message["scene"]))
        elif "texts" in message:
            items = [item for layer in self.scene["layers"] for item in layer["children"]]
            places, fields, values = (
                np.frombuffer(b, t) for b, t in zip(buffers, ("<u4", "u1", "<f4"), strict=True)
            )
            for place, field, value in zip(places, fields, values, strict=True):
                items[place][NUMBERS[field]] = round(float(value), 1)
            for place, named in message["texts"]:
                items[place].update(named)
        self.drawn.append((message["status"]["index"], widths(self.scene)))
        if message["frame"] % 5 == 0:
            self.say("drawn", frame=message["frame"])


@pytest.fixture
def view():
    made = RunView(Session(Walking(seconds=0.001)), PICTURE)
    yield made
    made.close()


def widths(scene):
    return [
        item["width"]
        for layer in scene["layers"]
        for item in layer["children"]
        if item["kind"] == "rectangle"
    ]


def expected(step):
    return widths(draw(step, None).to_json())


def test_buttons_do_what_they_say(view):
    page = Page(view)
    for kind, index in (("step", 1), ("step", 2), ("back", 1), ("step", 2), ("step", 3)):
        page.say(kind)
        until(lambda index=index: view.status["index"] == index)
        assert widths(view.scene) == expected(view.trace[index])
    page.say("seek", position=0)
    assert (view.status["index"], view.status["position"], view.status["last"]) == (0, 0, 3)
    assert widths(view.scene) == expected(view.trace[0])


def test_frames_lead_to_the_very_picture_of_the_step(view):
    page = Page(view)
    page.say("play")
    until(lambda: len(page.drawn) > 15)
    page.say("pause")
    until(lambda: view.status["index"] > 0)  # written down where it rests
    assert sum("texts" in frame for frame in page.frames) > 10
    for index, shown in page.drawn:
        assert shown == pytest.approx(expected(view.trace[index]))
    assert widths(view.scene) == expected(view.trace[-1])


def test_frames_are_few_and_small(view):
    page = Page(view)
    began = time.perf_counter()
    page.say("play")
    until(lambda: time.perf_counter() - began > 1.0)
    page.say("pause")
    view.live.wait(PATIENCE)
    assert len(page.frames) <= 20 * (time.perf_counter() - began) + 3  # 20 a second, first and last
    assert page.bytes / len(page.frames) < 1_500


def test_a_page_that_does_not_answer_gets_fewer_frames(view):
    page = Page(view)
    page.say = lambda *_args, **_named: None
    began = time.perf_counter()
    view.play()
    until(lambda: time.perf_counter() - began > 1.5)
    view.pause()
    view.live.wait(PATIENCE)
    assert len(page.frames) <= 2 * (time.perf_counter() - began) + 15  # two a second, behind the first dozen


def test_a_picture_of_another_structure_is_sent_whole(view):
    page = Page(view)
    page.say("part", part="marks")
    assert len(view.scene["layers"][0]["children"]) == 1
    page.say("play")
    until(lambda: sum("scene" in frame for frame in page.frames) > 3)


def test_messages_without_sense_are_left_alone(view):
    page = Page(view)
    before = (view.status["index"], view.status["part"], view.speed)
    for content in (
        {"type": "seek", "position": "far"}, {"type": "speed", "delay": -1}, {"type": "explode"}, {},
        {"type": "speed", "delay": float("nan")}, {"type": "part", "part": "nothing"}, {"type": 3},
        {"type": "drawn", "frame": 10**9}, {"type": "table", "open": "yes"}, {"type": "__init__"},
        {"type": "close"},
    ):  # fmt: skip
        view._receive_message(content, [])
    page.say("seek", position=10**9)
    page.say("seek", position=-5)
    assert (view.status["index"], view.status["part"], view.speed) == before


def test_stop_waits_for_no_delay_between_steps(view):
    view.speed = 1e6
    for _ in range(3):
        view.play()
        until(lambda: view.live.last is not None)
        live = view.live
        view.stop()
        live.join(PATIENCE)
        assert live.ended


def test_what_is_saved_is_small_and_what_is_shown_statically_is_there(view):
    state = view.get_state()
    data = len(json.dumps([state["scene"], state["table"]]))
    del state["layout"]
    assert len(json.dumps(state)) - data < 53_000
    bundle, _ = view._repr_mimebundle_()
    assert bundle[MIME_TYPE]["format"] == "mlnlab-scene"
    assert "<img" in bundle["text/html"]
    assert "bar 4" in bundle["text/html"]
    assert bundle["text/plain"] == "<A walk: paused at step 0>"
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_what_is_saved_names_the_step_that_it_shows(view):
    view.step(3)
    view.back()
    scene, shown = view.static_scene(), view.status["signature"]
    assert [item.text for item in scene.layers[-1].children] == ["step 2 · at 2"]
    assert scene.to_json()["layers"] == [*view.scene["layers"], *shown["layers"]]
    assert scene.height == shown["height"] > view.scene["height"]
    html = view._repr_mimebundle_()[0]["text/html"]
    assert "step 2 as a table" in html
    assert html.count("at 2") == 0  # the picture says it: a later one may take its place
    view.step(25)
    assert "At step 27: It is late." in view._repr_mimebundle_()[0]["text/html"]


def test_what_is_saved_of_a_running_one_is_of_one_step(view):
    view.play()
    for _ in range(20):
        with view._lock:  # nothing is drawn meanwhile, but steps are made
            drawn = view._sent_step
            until(lambda drawn=drawn: view.shown.index > drawn.index)
            assert view.static_scene().layers[0] == draw(drawn, None).layers[0]
            assert f"step {drawn.index:,} as a table" in str(view.static_markup())


def test_a_page_that_opens_while_a_frame_is_drawn_gets_the_whole_picture(view):
    page = Page(view)
    view.play()
    until(lambda: len(page.frames) > 3)
    entered, leave = threading.Event(), threading.Event()

    def slow(step, trace):
        entered.set()
        leave.wait(PATIENCE)
        return draw(step, trace)

    view._picture = replace(PICTURE, parts=PICTURE.parts | {"bars": slow})
    assert entered.wait(PATIENCE)
    seen = len(page.frames)
    opening = threading.Thread(target=page.say, args=("opened",), kwargs={"view": "second"})
    opening.start()
    time.sleep(0.05)
    leave.set()
    opening.join(PATIENCE)
    assert any("scene" in message for message in page.frames[seen + 1 :])


def test_a_view_that_cannot_begin_is_gone():
    def failing():
        raise ValueError("not today")
        yield

    known = len(widget._instances)
    for source in (failing, iter(range(3))):
        with pytest.raises((ValueError, ml.ArgumentError)):
            ml.live(source)
    assert len(widget._instances) == known


def test_a_run_that_fails_says_so_where_it_is_seen():
    def failing():
        yield Walking().__iter__().__next__()
        raise ValueError("not <today>")

    view = RunView(Session(failing), PICTURE)
    with pytest.raises(ValueError, match="today"):
        view.step()
    until(lambda: view.status["remarks"])
    assert view.status["remarks"] == ["The run failed: ValueError('not <today>')"]
    view.close()


def test_what_would_turn_the_text_around_it_is_marked():
    odd = replace(PICTURE, caption=lambda _: "a \u202e b", remarks=lambda _: ["c \x00 \u2067 d"])
    view = RunView(Session(Walking()), odd)
    assert view.status["caption"] == "a \ufffd b"
    assert view.status["remarks"] == ["c \ufffd \ufffd d"]
    view.close()


def test_remarks_stay_text(view):
    view.step(25)
    assert view.status["remarks"] == ["It is late. <b>"]
    assert "It is late. &lt;b&gt;" in view._repr_mimebundle_()[0]["text/html"]


def test_closing_leaves_no_thread():
    before = threading.active_count()
    view = RunView(Session(Walking(seconds=0.001)), PICTURE)
    view.play()
    thread = view.live._driver.thread
    view.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert threading.active_count() == before
    view.close()


def test_the_last_page_that_goes_ends_the_run_and_another_one_goes_on(view, monkeypatch):
    monkeypatch.setattr(views, "_running_loop", lambda: None)  # nobody to wait for it: it is gone at once
    page = Page(view)
    page.say("opened", view="second")
    view.play()
    page.say("closed", view="page")
    assert view.live.running
    page.say("closed", view="second")
    until(lambda: view.live.ended)
    last = view.trace[-1].index
    page.say("opened", view="third")
    page.say("play")
    until(lambda: view.trace[-1].index > last)


def test_all_runs_can_be_stopped_at_once(view):
    view.play()
    assert stop_all(PATIENCE) >= 1
    assert view.live.ended


def test_parts_are_shown_by_name(view):
    view.show("marks")
    assert view.status["part"] == "marks"
    with pytest.raises(ml.ArgumentError, match="no part 'curves'; it has bars, marks"):
        view.show("curves")


def test_a_drawing_that_fails_is_said_and_the_run_goes_on():
    def failing(step, trace):
        if step.index > 2:
            raise ZeroDivisionError("a drawing")
        return draw(step, trace)

    picture = type(PICTURE)("A walk", {"bars": failing}, PICTURE.caption, PICTURE.remarks, PICTURE.table)
    view = RunView(Session(Walking()), picture)
    view.step(5)
    assert view.shown.index == 5
    assert any("could not be drawn" in remark and "a drawing" in remark for remark in view.status["remarks"])
    view.back(4)
    assert view.status["remarks"] == []
    view.close()


def test_a_run_can_be_awaited_while_clicks_are_answered():
    reached, paused = threading.Event(), threading.Event()

    def walking():
        for number, state in enumerate(Walking(most=100)):
            if number == 50:
                reached.set()
                assert paused.wait(PATIENCE)
            yield state

    view = RunView(Session(walking), PICTURE)

    async def cell():
        waiting = asyncio.ensure_future(view.run())
        assert await asyncio.to_thread(reached.wait, PATIENCE)
        view._receive_message({"type": "pause"}, [])
        paused.set()
        assert (await asyncio.wait_for(waiting, PATIENCE)).index == 50  # the step that was being made
        return await asyncio.wait_for(view.run(), PATIENCE)

    assert apart(cell()).index == 99
    view.close()
