"""What the HTML pages share: one file each that needs nothing else, light and dark."""
