"""The mbarrier in the engine: objects in shared memory, who waits for them, and the instructions."""
