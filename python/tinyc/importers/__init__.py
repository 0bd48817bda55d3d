"""What becomes a Tiny module: one reader for each format (`tiny_json`), over typed `steps` and one `emit`."""
