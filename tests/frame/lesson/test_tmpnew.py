from playwright.sync_api import expect
from tests.browser.drive import PHONE, wait_run
from tests.frame.lesson.hands import Finger, Keyboard
from tests.frame.lesson.test_every_lesson import do_lesson, without_figures
from viz.lessons.read import lesson_named
NEW=("attention_from_nothing","ten_minutes","training_and_writing","cache","feed_forward","probability")
def test_keys(visit):
    page = visit("lessons", viewport=(1280, 720)); without_figures(page)
    for name in NEW:
        do_lesson(page, Keyboard(page), lesson_named(name), "en"); print("DONE", name)
def test_taps(new_page, app_url):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True); without_figures(page)
    page.goto(f"{app_url}/lessons?lang=zh"); wait_run(page)
    for name in NEW:
        do_lesson(page, Finger(page), lesson_named(name), "zh"); print("DONE", name)
