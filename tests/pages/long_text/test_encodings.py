"""Text files in the encodings that people have are read, what is no text is refused, and each byte a few times only."""

import random
import struct
import zlib

import pytest

from pages.long_text.encodings import read_encoded

FRENCH = "Le café était fermé. Où était-ce ? «\u00a0Là\u00a0», naïf."
GERMAN = "Größe: 3 Äpfel, Öl, süß – “ja”, it’s 5 €."
CHINESE = "这只动物没过马路，因为它太累了。\n“对”，他说。"
JAPANESE = "猫がマットの上に座った。疲れていたからです。"
RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему."
GREEK = "Όλες οι ευτυχισμένες οικογένειες μοιάζουν μεταξύ τους, κάθε δυστυχισμένη με τον δικό της τρόπο."
POLISH = "Wszystkie szczęśliwe rodziny są do siebie podobne, każda nieszczęśliwa jest nieszczęśliwa na swój sposób."
TEXTS = {
    "English": "The animal was tired.",
    "French": FRENCH,
    "German": GERMAN,
    "Chinese": CHINESE,
    "Japanese": JAPANESE,
}
UNICODE = ["utf-8-sig", "utf-16", "utf-32", "utf-8"]


@pytest.mark.parametrize("text", [*TEXTS.values(), "Привет, мир", "שלום עולם", "😂 हिन्दी", "a"])
@pytest.mark.parametrize("codec", [*UNICODE, "utf-16-be with a mark", "utf-32-be with a mark"])
def test_unicode_with_mark_is_read(text, codec):
    codec, _, has_mark = codec.partition(" ")
    data = (f"\ufeff{text}" if has_mark else text).encode(codec)
    assert read_encoded(data) == (text, codec.removesuffix("-sig").removesuffix("-be").upper())


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", TEXTS)
def test_utf16_without_mark_is_read(name, codec):
    assert read_encoded(f"{TEXTS[name]}\n{TEXTS[name]}".encode(codec)) == (f"{TEXTS[name]}\n{TEXTS[name]}", "UTF-16")


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (FRENCH, "cp1252", "Windows-1252"), (GERMAN, "cp1252", "Windows-1252"), (FRENCH, "latin-1", "Windows-1252"),
        ("été", "cp1252", "Windows-1252"), ("Ünïcödé", "latin-1", "Windows-1252"),
        ("Señor Ibáñez, ¿qué?", "cp1252", "Windows-1252"),
        ("it’s", "cp1252", "Windows-1252"), ("ÅÄÖ på svenska, blåbärssylt", "latin-1", "Windows-1252"),
        (CHINESE, "gb18030", "GB18030"), (CHINESE, "gbk", "GB18030"), ("猫坐在垫子上", "gb2312", "GB18030"),
        ("GPT 在北京 2024 年", "gb18030", "GB18030"), (f"{CHINESE}😂", "gb18030", "GB18030"),
        (JAPANESE, "shift_jis", "Shift-JIS"), (JAPANESE, "cp932", "Shift-JIS"), ("カタカナ ABC", "cp932", "Shift-JIS"),
        ("貓坐在墊子上，因為牠很累。", "big5", "Big5"), ("臺北 2024 年，ABC 公司", "cp950", "Big5"),
        ("我愛你", "cp950", "Big5"), ("고양이가 매트 위에 앉았다. 너무 피곤했다.", "euc_kr", "EUC-KR"),
        ("北京师范大学", "gbk", "GB18030"),
        (JAPANESE, "euc_jp", "EUC-JP"), (JAPANESE, "iso2022_jp", "ISO-2022-JP"), (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8_r", "koi8_r"), (RUSSIAN, "iso8859_5", "iso8859_5"), (RUSSIAN, "cp866", "cp866"),
        (GREEK, "iso8859_7", "Windows-1253"), (GREEK, "cp1253", "Windows-1253"), (POLISH, "iso8859_2", "iso8859_2"),
        (POLISH, "cp1250", "Windows-1250"),
        ("猫の①ﾃｽﾄです、はい", "cp932", "Shift-JIS"), ("猫坐在垫子上，因为它太累了。", "utf-16-le", "UTF-16"),
    ],
)  # fmt: skip
def test_older_encodings_are_read(text, codec, name):
    assert read_encoded(text.encode(codec)) == (text, name)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"PK\x03\x04\x14\0\x06\0\x08\0", b"\x7fELF\x02\x01\x01\0",
        b"\xff\xd8\xff\xe0\0\x10JFIF\0",
        b"%PDF-1.7\n%\xb5\xb5\xb5\xb5\0", b"a\0b", b"\xff", b"\xff\xfe1", b"\xff\xfea\xd8", b"\xef\xbb\xbf\xff",
        b"\xff\xfea\0\0\0",
        zlib.compress(b"a text " * 99), struct.pack("<99h", *range(-49, 50)),
        "Привет, это русский текст".encode("cp1251"),
        "Привет, это русский текст".encode("koi8-r"), "Καλημέρα κόσμε, τι κάνεις".encode("cp1253"), bytes(range(256)),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused(data):
    """Binary files, broken marks, and encodings that cannot be told from others."""
    assert read_encoded(data) is None


def test_random_bytes_are_refused():
    chance = random.Random(0)
    assert [read_encoded(chance.randbytes(chance.randint(40, 400))) for _ in range(500)] == [None] * 500


def test_encodings_are_tried_once(monkeypatch):
    """The largest file costs as many readings as there are encodings, whatever is in it."""
    calls = []
    monkeypatch.setattr("pages.long_text.encodings._decode", lambda data, codec: calls.append(codec))
    assert read_encoded(b"\xe9" * 200_000) is None
    assert len(calls) == len(set(calls)) == 9
