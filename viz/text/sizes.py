"""Sizes in bytes as people read them, in a sentence and along an axis."""

BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size(count: float) -> str:
    """Bytes in binary units.

    Example:
        >>> size(512), size(2**31), size(8192 * 3), size(1024 * 1000 - 300)
        ('512 B', '2 GiB', '24 KiB', '1,000 KiB')
    """
    value, unit = float(count), 0
    while value >= 1024 and unit < len(BINARY) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.3g} {BINARY[unit]}" if value < 999.5 else f"{value:,.0f} {BINARY[unit]}"
