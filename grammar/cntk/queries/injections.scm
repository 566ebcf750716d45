((brainscript) @injection.content
  (#set! injection.language "brainscript"))

((comment) @injection.content
  (#set! injection.language "comment"))
