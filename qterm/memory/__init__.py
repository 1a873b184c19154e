"""hermes's long-term memory: files, tags, policies, the preview, and the one way to write.

Pure: `entries`, `stores`, `tags` with `words`, `schema` with `typed_yaml`, `proposal`, `policies/`,
`plan`. On the disk: `opening`, `files`, `limits`, `notes`, `archive` with `records` and `keeping`,
`locking`, `replacing`, `disk`, `writer`, `backup_command`. `book` puts them together and is what
the faces use (docs/memory.md). Nothing here ever starts hermes.
"""
