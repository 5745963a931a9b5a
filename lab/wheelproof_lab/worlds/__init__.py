"""Programs that come with the checker and that need nothing but `wheelproof.sync`."""
