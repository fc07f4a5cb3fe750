"""Large numbers as people read them."""

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
EXACT = 10**12


def amount(count: int | None) -> str:
    """A count: exact below a million million, then three digits and a power of ten; "∞" for what never comes.

    Example:
        >>> amount(21176320), amount(805306368000000), amount(None)
        ('21,176,320', '8.05·10¹⁴', '∞')
    """
    if count is None:
        return "∞"
    if count < EXACT:
        return f"{count:,}"
    digits = f"{count:.2e}"
    mantissa, power = digits.split("e")
    return f"{mantissa}·10{str(int(power)).translate(RAISED)}"


def share(part: float) -> str:
    """A share to a tenth of a percent; what is not quite nothing, or not quite all, never looks like it.

    Example:
        >>> share(0.25), share(0.0), share(1e-6), share(0.99999), share(1.0)
        ('25.0%', '0.0%', '<0.1%', '>99.9%', '100.0%')
    """
    if 0 < part < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= part < 1 else f"{part:.1%}"


def size(count: int) -> str:
    """Bytes in binary units.

    Example:
        >>> size(512), size(2**31), size(8192 * 3), size(1024 * 1000 - 300)
        ('512 B', '2 GiB', '24 KiB', '1,000 KiB')
    """
    value, unit = float(count), 0
    while value >= 1024 and unit < len(BINARY) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.3g} {BINARY[unit]}" if value < 999.5 else f"{value:,.0f} {BINARY[unit]}"
