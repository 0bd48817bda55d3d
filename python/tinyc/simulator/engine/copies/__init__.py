"""Asynchronous copies in the engine: `cp.async`, bulk and tensor copies, `st.async`, from issue to landing."""
