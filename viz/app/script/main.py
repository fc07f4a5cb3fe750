"""The script of every user's run.

It has a folder of its own. Beside a folder called ``pages`` Streamlit (1.36 to 1.67) takes a script for its old kind of
app, and tells the first user of a process who opens a page by its address that there is no such page.
"""

from viz.app.run import draw_frame

if __name__ == "__main__":
    draw_frame()
