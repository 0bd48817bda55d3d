"""How fast a kernel would run on a GPU, from its run on the simulator and the SASS that ptxas makes of it."""
