"""Why a layer has several heads, and what each of them can see."""
