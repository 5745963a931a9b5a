"""The program: the command line, a verb a file, the pages, the main job."""
