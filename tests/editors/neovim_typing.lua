-- Neovim 0.7 for a person who types: our own set-up, and what the test asks about the list.
require('netsharp').setup({
  cmd = vim.split(os.getenv('NETSHARP_COMMAND'), ' '),
  autotrigger = true,
  hosts = true,
})
vim.cmd('filetype plugin on')

-- Whether the server of the buffer answers.
function _G.netsharp_ready()
  local _, client = next(vim.lsp.buf_get_clients(0))
  return client ~= nil and client.initialized == true
end

-- The line, the first labels of the open list, those that begin with an unwanted word, the first item
-- that is called as is wanted, counted from 1 (0: none), and the text that it puts in, as JSON.
-- What is asked through a socket is cut where it is long.
function _G.netsharp_seen(wanted, unwanted)
  local seen = { line = vim.api.nvim_get_current_line(), listed = {}, begun = {}, at = 0, text = '' }
  if vim.fn.pumvisible() == 1 then
    for at, item in ipairs(vim.fn.complete_info({ 'items' }).items) do
      table.insert(at <= 10 and seen.listed or {}, item.abbr)
      if vim.tbl_contains(unwanted, item.abbr:match('^%w*')) then
        table.insert(seen.begun, item.abbr)
      end
      if seen.at == 0 and vim.startswith(item.abbr, wanted) then
        seen.at, seen.text = at, item.word
      end
    end
  end
  return vim.json.encode(seen)
end

-- All lines, as JSON.
function _G.netsharp_text()
  return vim.json.encode(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') .. '\n')
end
