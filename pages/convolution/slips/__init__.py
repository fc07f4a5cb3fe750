"""Easy mistakes on the way from heads to a kernel: four slips, and sharpness for reach."""
