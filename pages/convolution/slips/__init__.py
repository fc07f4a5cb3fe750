"""Easy mistakes on the way from heads to a kernel: five slips, sharpness for reach, claims of tables."""
