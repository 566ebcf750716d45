-- Checks of a script of Neovim, printed as they come; the editor ends with what came of them.
local M = { failed = 0 }

local function say(text)
  io.stdout:write(text .. '\n')
end

function M.check(name, fine, detail)
  if not fine then
    M.failed = M.failed + 1
  end
  say((fine and 'ok   ' or 'FAIL ') .. name .. (fine and '' or ': ' .. vim.inspect(detail)))
end

function M.wait(condition)
  return vim.wait(15000, condition, 20)
end

function M.lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
end

-- Starts our own set-up for the server of the test, and opens a file.
function M.open(file)
  require('netsharp').setup({ cmd = vim.split(os.getenv('NETSHARP_COMMAND'), ' ') })
  vim.cmd('filetype plugin on')
  vim.cmd('edit ' .. vim.fn.fnameescape(file))
  return vim.api.nvim_get_current_buf()
end

-- The client of a buffer, once it can be asked.
function M.client(buffer)
  M.check('attached', M.wait(function()
    return next(vim.lsp.buf_get_clients(buffer)) ~= nil
  end))
  local _, client = next(vim.lsp.buf_get_clients(buffer))
  M.check('initialised', M.wait(function()
    return client.initialized and client.server_capabilities ~= nil
  end))
  return client
end

-- Asks the server of a buffer about it.
function M.ask(buffer, client, method, params)
  if method:find('^textDocument/') then
    params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
  end
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 10000)
  return answers and answers[client.id] and answers[client.id].result
end

function M.stop(client)
  client.stop()
  M.check('server ends', M.wait(function()
    return client.is_stopped()
  end))
end

function M.run(main)
  local fine, fault = xpcall(main, debug.traceback)
  if not fine then
    M.failed = M.failed + 1
    say('FAIL script: ' .. fault)
  end
  say(M.failed == 0 and 'passed' or M.failed .. ' failed')
  vim.cmd(M.failed == 0 and 'qall!' or 'cquit 1')
end

return M
