"""Values that a session keeps: parameters, which its link holds, and what is remembered beside them."""
