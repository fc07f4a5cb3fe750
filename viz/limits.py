"""Limits on requests of one user and on the server, and their reasons. All are enforced on the server.

Whoever runs the server may change those read by :func:`read_integer` and :func:`names`, by ``HEADLIGHT_<NAME>`` in the
environment.
"""

import os

from viz.container import HOST, IS_SMALL, MEMORY, SPACE, fit_threads, share_mb


def read_integer(name: str, default: int, low: int, high: int, local: int | None = None) -> int:
    """Read an integer from the environment, else the default, or the one for this container or host.

    Raises:
        ValueError: if what is set there cannot be used.
    """
    value = os.environ.get(f"HEADLIGHT_{name}") or str(default if local is None else local)
    if not value.isdecimal() or not low <= int(value) <= high:
        raise ValueError(f"HEADLIGHT_{name}={value!r} is not a whole number from {low} to {high}")
    return int(value)


def names(name: str, default: str = "") -> tuple[str, ...]:
    """Names from the environment, with commas or spaces between them."""
    return tuple((os.environ.get(f"HEADLIGHT_{name}") or default).replace(",", " ").split())


# --- One text, one picture ---------------------------------------------------------------------------------------

CHARACTERS = 4_000
"""Of one text: about 700 words, more than any model here reads; what is beyond is dropped and counted."""

LOOKED_UP, FOLLOWED_CHARACTERS = 60, 40
"""Characters that the glossary is searched for, and of a word that is followed: no term, no model's word is longer."""

TOKENS = 256 if IS_SMALL else 512
"""Of one text: the default model's own limit, half in a small container. 72 maps of 512 x 512 weights are 75 MB."""

PRINTED_CELLS = 400
"""Numbers are printed into the cells of a matrix up to this many cells; beyond it they would not be legible."""

WIDTHS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Choices of d_model for seeded vectors: small enough to read, and each divides into several numbers of heads."""

SEEDED_HEADS = 16
"""Heads that have learned nothing: more than a page can name one by one. A model has the heads and layers it has."""

PAINTED_TOKENS = 32
"""Of a text whose mask is painted: a link holds 32 x 32 cells in 174 characters, and a finger can still hit one."""

HAND_NUMBER, HAND_CHARACTERS = 5, 12
"""Of the example that is worked out by hand: how large a number may be, and how long a word; both fit a phone."""

OWN_WORDS, OWN_WIDTH, OWN_HEADS, OWN_NUMBER = 6, 6, 3, 20
"""Of numbers that a user types in: words, the width of their vectors, heads, and how large a number may be. The
largest example has 180 numbers, 365 characters in a link, and every one can be read on the screen at once."""

PLACED_TOKENS = 128
"""Of a text whose encodings are compared: eight maps of 128 x 128 exact numbers are 0.5 MB."""

WINDOW_TOKENS = 128
"""Of a text whose windows are drawn live: three heads of 128 x 128 scores are 0.2 MB, recomputed 60 times a second."""

SHARED_TOKENS = 96
"""Of a text whose K, V and heads are drawn group by group: at most 0.6 MB for 12 heads of width 64."""

STACK_TOKENS, STACK_ROWS = 128, 1_536
"""Of a text that goes through whole blocks, and of its rows in all layers together: every step of twelve layers is
100 MB then, 2 MB for a sentence. Of SmolLM2's thirty, 128 tokens took 300 MB, more than is kept, and 51 take 100."""

SCORED_TOKENS = 128
"""Of two texts whose scoring functions are compared: additive scoring holds 128 x 128 x 64 numbers at once, 4 MB."""

WRITTEN_TOKENS = 48
"""Of what an encoder-decoder writes: each step is a pass of its decoder, 10 ms for the smallest."""

NEXT_TOKENS = 48
"""Of a text whose next words are shown: the lens of 30 layers over 49,152 words takes 2 s then, one layer 10 MB."""

SWAPPED_TOKENS = 32
"""Of two texts whose heads are swapped one at a time: 270 heads of 30 layers take 6 s for 14 tokens, 12 s for 32."""

CONTINUED_TOKENS, WRITTEN_AT_ONCE = 48, 8
"""Of what a decoder writes on, and of one computation of it: after each the user may stop, and others have turns."""

LONGEST = 32_768
"""Tokens of any text: one head's map of as many takes 5 s on one core."""

LONG_TOKENS = read_integer("LONG_TOKENS", 0, 0, LONGEST)
"""Of a long text at most; a model's own limit holds besides. 0: ``TOKENS`` on a public server, 32,768 elsewhere. For
1000 tokens of SmolLM2 71 MB are kept (``LONG_MB``), and its pass takes 4 s and 20 MB more."""

LONG_BYTES = 200_000
"""Of a user's text file: 35,000 words."""

ATLAS_LINES, ATLAS_PARAMETERS = 200, 160_000_000
"""Of the user's own lines that heads are scored on, and of a model that is scored while the user waits."""

ATLAS_NOW = bool(read_integer("ATLAS_NOW", 1, 0, 1, int(not IS_SMALL)))
"""True if heads are scored while the user waits: 27 s of one core for the default model and 200 sentences, 110 for
SmolLM2. Without it the page shows the atlases that come with the app, and no other."""

ATLAS_BYTES = 400_000_000
"""Of the largest such model with random weights, which stands beside it meanwhile."""

PICTURE_SIDE = 64
"""Pixels of a picture's side: a head on 64 x 64 has a map of 4096 x 4096."""

PICTURE_BYTES = 2_000_000
"""Of a user's file, as .streamlit/config.toml has it: more than a picture reduced to 64 x 64 needs."""

PICTURE_PIXELS, PICTURE_LONGEST = 16_000_000, 16_384
"""Of a user's file and of one side of it, read from its header before it is unpacked: up to 192 MB until it is small.
The widest panoramas of phones have such a side; a column of 16 million pixels took 960 MB, most of it for rows."""

OWN_LESSON_LINK, OWN_LESSON_BYTES = 4_000, 64_000
"""Of a teacher's own lesson in a link, and of what that unpacks to: a dozen steps with their questions take 2 kB."""

OWN_LESSON_STEPS, OWN_LESSON_PARAMETERS = 40, 40
"""Steps of it: more than an hour; and parameters of each: no page has as many."""

OWN_LESSON_TITLE, OWN_LESSON_QUESTION = 120, 600
"""Characters: a title is a line, a question stays on a projector beside its picture."""

# --- Work: who computes when -------------------------------------------------------------------------------------

FORWARD_PASSES = read_integer("PASSES", 2, 1, 64)
"""Computations under way at once that take long: one for each core. Others wait their turn, and see their place."""

QUICK = 1
"""Beside them, of a sentence: 10 to 50 ms each. Behind two texts of 512 tokens 40 users had to wait."""

SENTENCE_BYTES = 1_000
"""Of what is computed at once, with all that it depends on, written out: 150 words. What is longer takes long."""

PAGES = 1
"""Pages being written at once, not counting those that wait. Python runs one thread at a time, and many that take turns
take far longer than one after the other: with 50 users on two cores, the 95th percentile went from 4.4 s to 0.9."""

SHORT_SECONDS = 0.1
"""Seconds that a page computes by itself before others are written beside it, at the next layer."""

LESSONS, MEASUREMENTS = 1, 1
"""Of these, steps of a lesson (a student learning a convolution), so that a class that trains leaves room for users who
look; and decoding steps being timed, since two at once would time each other."""

QUEUE = read_integer("QUEUE", 256, 1, 10_000)
"""Computations that may wait. At 50 ms each, two at a time, the last waits 6 s; one more is asked to try again."""

COMPUTATION_SECONDS = read_integer("SECONDS", 20, 1, 600)
"""For one computation, looked at between layers; a single layer, a model being loaded and the steps of a lesson run to
their end. The Heads page of 512 tokens took 1.8 s on two busy cores."""

LONG_SECONDS = read_integer("LONG_SECONDS", 300, 1, 3_600)
"""For a long text's pass, which says how far it is and can be stopped: 8192 tokens of SmolLM2 took 70 s on one core."""

LONG_TOKEN_BYTES = 90_000
"""Of a long text's pass, for each token it may have: SmolLM2 took 367 MB for 4096, what is kept of them included."""

LONG_PASSES, ATLAS_PASSES = 1, 1
"""Of the computations under way, passes of a long text, and parts of an atlas: dozens of seconds each, one after the
other, while others look at a sentence. With 50 users, who tried all there is, their answers took 20 s until then."""

WAIT_SECONDS = read_integer("WAIT", 60, 1, 600)
"""Seconds a user waits for one answer, queue and all, before the page says that the server is busy."""

TORCH_THREADS = 1
"""Of one forward pass. With one a core, another busy process makes every operation wait for the scheduler: 0.6 ms of
attention on a sentence took 60 ms on a shared machine with two cores."""

# --- Memory ------------------------------------------------------------------------------------------------------

MEMORY_BYTES = read_integer("MEMORY_MB", 1_700, 600, 1_000_000, share_mb(1_700, 0.92)) * 10**6
"""Of the whole process, resident, on a public server, with the default model alone; each further model in memory adds
its weights, as far as the container has room. What would go beyond waits, and what is kept gives way. Warm: 0.7 GB."""

CONTAINER_BYTES = int(MEMORY * 0.92)
"""Largest share of a container's memory for the process, in bytes, all models included; 0 where it has no limit."""

PASS_BYTES = 110_000_000 if IS_SMALL else 330_000_000
"""Memory to reserve for one user's computation: 512 tokens take 60 to 240 MB at the height of a section with the
default model, 200 to 390 with SmolLM2, what is kept meanwhile included (``python -m bench.memory``)."""

SENTENCE_PASS_BYTES = 30_000_000
"""Of a sentence: it takes a few MB, and does not wait until a long text has ended."""

CACHE_BYTES = read_integer("CACHE_MB", 270, 50, 100_000, share_mb(270, 0.08, 50)) * 10**6
"""Of everything computed and kept, whoever it was for; the least recently used goes first. The examples take
50 MB in all layers and heads, one layer of 512 tokens 50 MB; SmolLM2's pass of them 96 and all its blocks 105."""

SMALL_BYTES, DEAR_SECONDS = 100_000, 0.3
"""Of a result that stays where memory is short: to forget it gives back nothing. And seconds that one took which stays
with the user who came first: the pass of 512 tokens through SmolLM2 (3 s) was computed three times for a page."""

LONG_KEPT_BYTES = read_integer("LONG_MB", 1_200, 50, 100_000, share_mb(1_200, 0.1, 50)) * 10**6
"""Of long texts' q and k, and of the maps made of them: two of the longest that SmolLM2 reads."""

MODELS_BYTES = read_integer("MODELS_MB", 4_200, 1, 1_000_000, 100 if IS_SMALL else share_mb(4_200, 0.58)) * 10**6
"""Of all models in memory: the default one (0.1 GB), the twins (4 MB) and the two largest of the list (2 GB each). One
that is larger by itself is not offered."""

MODELS = names("MODELS")
"""Models that are offered, of those in viz/models/registry.toml; all if nothing is set. Nobody can name another."""

COUNTS_KEPT = 64
"""Counts kept of torch's own counter, four numbers each."""

# --- A public address: read by viz/host --------------------------------------------------------------------------

SOCKETS = read_integer("SOCKETS", 600, 1, 100_000, fit_threads(600))
"""Browser tabs connected at once: about 1 MB each, which stays with a user who only reads; a run has a thread."""

SOCKETS_EACH = read_integer("SOCKETS_PER_ADDRESS", 300, 1, 100_000, 600 if HOST else None)
"""Of one address: a whole school, or all who come through a host's proxy."""

IDLE_SECONDS = read_integer("IDLE_MINUTES", 30, 1, 10_000) * 60
"""Seconds without a click after which a tab gives way when somebody new finds no room. Its link brings it back."""

MESSAGE_BYTES, MESSAGE_SECONDS = 1_000_000, 30
"""Of one message from a browser, and seconds from its first byte to its last. The largest of any page is 17 kB, of
4,000 Chinese characters, and 100 kB with the link that holds them twice; files do not come this way."""

MESSAGE_CONTROLS, MESSAGE_LINK, MESSAGE_STATES, LINK_PARAMETERS = 500, 250_000, 850_000, 200
"""Of one message: controls, of which the largest page has 68; bytes of its link, in which five texts of 4,000 Chinese
characters are 180,000, and of all states of components, in which a file of 64 kB that is no text is 384,000.
And parameters of any link, of which a page has fewer than 40."""

UNFINISHED_BYTES, UNFINISHED_BYTES_EACH = 32_000_000, 12_000_000
"""Of all messages that browsers have begun to send and no page has read, and of those of one address. A class of 30
that presses a key at once sends 1 MB. Who has been at it longest is disconnected first."""

CONNECTIONS_EACH = read_integer("CONNECTIONS_PER_ADDRESS", 600, 10, 100_000, 3_600 if HOST else None)
"""Connections of one address beside its tabs: a browser opens six for a first page, and keeps them for 5 seconds.
Behind a proxy it is the proxy that counts."""

HEAD_BYTES = 64 * 1024
"""Of what is asked: a link holds a text, and 4,000 Chinese characters are 36 kB in an address (deploy/nginx.conf)."""

HEAD_SECONDS, BODY_SECONDS, STUCK_SECONDS = 15, 60, 60
"""For what is asked, for a file that is sent (2 MB at 300 kbit/s), and for reading some of the answer."""

MESSAGES_A_SECOND, MESSAGES_AT_ONCE = 20, 100
"""Of one browser: what comes faster is read later. A hand on a slider sends three a second, a first visit ten."""

UPLOADS_EACH = 4
"""Files of one user, in memory or on their way: a page has one place for a picture, and a new one takes it."""

UPLOADS_BYTES = 100_000_000
"""Of all files, in memory or on their way: 50 of the largest, and a class of 30 uploads one each at once."""

UPLOAD_SECONDS = 60
"""A file that no page shows is kept that long: the page says that it shows it only after it was sent."""

STOPPING_SECONDS = 15
"""Seconds from being told to stop to the end of the process, whatever still runs: orchestrators kill after 20 or 30."""

PROXIES = read_integer("PROXIES", 0, 0, 9)
"""Proxies in front of the server, each of which adds the address it sees to X-Forwarded-For; 0: the header is a
user's own claim and is not read."""

HOSTS = names("HOSTS")
"""Names (with the port, if it is not the default) under which the page is public; any if nothing is set. A request
for another name is refused, so that no other site's name can be pointed at this server."""

FRAMES = names("FRAMES", "https://huggingface.co" if HOST == SPACE else "'self'")
"""Sites that may show the page in a frame, as a content policy names them: https://huggingface.co"""

EMBEDS = names("EMBEDS") or FRAMES
"""Sites that may show a section (``embed=1``) in a frame: "*" is any. Nobody else's page shows more than that."""

TLS = bool(read_integer("TLS", 0, 0, 1))
"""True if all users connect by TLS, which ends here or in a proxy before: then HSTS is sent, for a year."""

SOURCE = os.environ.get("HEADLIGHT_SOURCE", "")
"""URL of the source code, for the page about the program: https://..."""
if SOURCE and not SOURCE.startswith("https://"):
    raise ValueError(f"HEADLIGHT_SOURCE={SOURCE!r} does not begin with https://")

METRICS_TOKEN = os.environ.get("HEADLIGHT_METRICS_TOKEN", "")
"""Bearer token for /metrics; empty: nobody may read it."""
