"""The verb ``pipeline check``: files in, tables out; `stream` uses the stages too."""
