-- Neovim 0.7 with our own files: diagnostics, hover, code action, formatting, against the server.
-- nvim --headless --clean -n -i NONE --cmd "set rtp+=FOLDER" -S neovim.lua
-- FOLDER holds our files as they are installed; NETSHARP_COMMAND is the server (words apart by
-- spaces), NETSHARP_FILE the file to open.
local checks = dofile(vim.fn.expand('<sfile>:p:h') .. '/neovim_checks.lua')

checks.run(function()
  local buffer = checks.open(os.getenv('NETSHARP_FILE'))
  checks.check('file type', vim.bo[buffer].filetype == 'netsharp', vim.bo[buffer].filetype)
  checks.check('comments', vim.bo[buffer].commentstring == '// %s', vim.bo[buffer].commentstring)
  local client = checks.client(buffer)

  checks.check('diagnostics', checks.wait(function()
    return #vim.diagnostic.get(buffer) == 1
  end), vim.diagnostic.get(buffer))
  local found = vim.diagnostic.get(buffer)[1] or {}
  checks.check('diagnostic code', found.code == 'NS035', found)
  checks.check('diagnostic place', found.lnum == 1 and found.col == 30 and found.end_col == 34, found)

  local hover = checks.ask(buffer, client, 'textDocument/hover', { position = { line = 1, character = 9 } })
  checks.check('hover', hover and hover.contents.value:find('Hidden', 1, true), hover)

  local range = {
    start = { line = found.lnum, character = found.col },
    ['end'] = { line = found.end_lnum, character = found.end_col },
  }
  local actions = checks.ask(buffer, client, 'textDocument/codeAction', {
    range = range,
    context = {
      only = { 'quickfix' },
      diagnostics = { { range = range, message = found.message, code = found.code } },
    },
  })
  local fix = nil
  for _, action in ipairs(actions or {}) do
    if action.title == "Replace by 'Image'" then
      -- This client resolves edits, so that the server may leave them for later.
      fix = action.edit and action or checks.ask(buffer, client, 'codeAction/resolve', action)
    end
  end
  checks.check('code action', fix ~= nil and fix.edit ~= nil, actions)
  if fix and fix.edit then
    vim.lsp.util.apply_workspace_edit(fix.edit, client.offset_encoding or 'utf-16')
    checks.check('code action applied', checks.lines(buffer)[2]:find('from Image all', 1, true), checks.lines(buffer))
    checks.check('diagnostics gone', checks.wait(function()
      return #vim.diagnostic.get(buffer) == 0
    end), vim.diagnostic.get(buffer))
  end

  vim.lsp.buf.formatting_sync(nil, 10000)
  checks.check('formatting', checks.lines(buffer)[3] == 'output Digit [10] softmax from Hidden all;', checks.lines(buffer))

  checks.stop(client)
end)
