"""hermes's long-term memory: files, tags, policies, the preview, and the one way to write.

`entries`, `stores`, `tags`, `proposal`, `policies/` and `schema` are pure; `files`, `limits`,
`archive`, `locking`, `replacing` and `writer` touch the disk; `book` puts them together and is what
the faces use (docs/memory.md). Nothing here ever starts hermes.
"""
