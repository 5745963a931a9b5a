"""The verb ``pipeline report``: one page of what was judged."""
