"""The verb ``pipeline stream``: runs are judged as their files arrive."""
