; Comments hold links and notes that editors mark up.

([
  (comment)
  (block_comment)
] @injection.content
  (#set! injection.language "comment"))
