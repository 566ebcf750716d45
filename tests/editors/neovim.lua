-- Neovim 0.7 with our own files: diagnostics, hover, code action, formatting, against the server.
-- nvim --headless --clean -n -i NONE --cmd "set rtp+=editors/neovim-0.7" -S neovim.lua
-- NETSHARP_COMMAND is the server (words apart by spaces), NETSHARP_FILE the file to open.
local failed = 0

local function say(text)
  io.stdout:write(text .. '\n')
end

local function check(name, fine, detail)
  if not fine then
    failed = failed + 1
  end
  say((fine and 'ok   ' or 'FAIL ') .. name .. (fine and '' or ': ' .. vim.inspect(detail)))
end

local function wait(condition)
  return vim.wait(15000, condition, 20)
end

local function lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
end

local function main()
  require('netsharp').setup({ cmd = vim.split(os.getenv('NETSHARP_COMMAND'), ' ') })
  vim.cmd('filetype plugin on')
  vim.cmd('edit ' .. vim.fn.fnameescape(os.getenv('NETSHARP_FILE')))
  local buffer = vim.api.nvim_get_current_buf()
  check('file type', vim.bo[buffer].filetype == 'netsharp', vim.bo[buffer].filetype)
  check('attached', wait(function()
    return next(vim.lsp.buf_get_clients(buffer)) ~= nil
  end))
  local id, client = next(vim.lsp.buf_get_clients(buffer))
  check('initialised', wait(function()
    return client.initialized and client.server_capabilities ~= nil
  end))

  check('diagnostics', wait(function()
    return #vim.diagnostic.get(buffer) == 1
  end), vim.diagnostic.get(buffer))
  local found = vim.diagnostic.get(buffer)[1] or {}
  check('diagnostic code', found.code == 'NS035', found)
  check('diagnostic place', found.lnum == 1 and found.col == 30 and found.end_col == 34, found)

  local function ask(method, params)
    if method:find('^textDocument/') then
      params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
    end
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 10000)
    return answers and answers[id] and answers[id].result
  end

  local hover = ask('textDocument/hover', { position = { line = 1, character = 9 } })
  check('hover', hover and hover.contents.value:find('Hidden', 1, true), hover)

  local range = {
    start = { line = found.lnum, character = found.col },
    ['end'] = { line = found.end_lnum, character = found.end_col },
  }
  local actions = ask('textDocument/codeAction', {
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
      fix = action.edit and action or ask('codeAction/resolve', action)
    end
  end
  check('code action', fix ~= nil and fix.edit ~= nil, actions)
  if fix and fix.edit then
    vim.lsp.util.apply_workspace_edit(fix.edit, client.offset_encoding or 'utf-16')
    check('code action applied', lines(buffer)[2]:find('from Image all', 1, true), lines(buffer))
    check('diagnostics gone', wait(function()
      return #vim.diagnostic.get(buffer) == 0
    end), vim.diagnostic.get(buffer))
  end

  vim.lsp.buf.formatting_sync(nil, 10000)
  check('formatting', lines(buffer)[3] == 'output Digit [10] softmax from Hidden all;', lines(buffer))

  client.stop()
  check('server ends', wait(function()
    return client.is_stopped()
  end))
end

local fine, fault = xpcall(main, debug.traceback)
if not fine then
  failed = failed + 1
  say('FAIL script: ' .. fault)
end
say(failed == 0 and 'passed' or failed .. ' failed')
vim.cmd(failed == 0 and 'qall!' or 'cquit 1')
