-- Neovim 0.7 for a person who types: our own set-up, and what the test asks about the list.
require('netsharp').setup({ cmd = vim.split(os.getenv('NETSHARP_COMMAND'), ' ') })
vim.cmd('filetype plugin on')
vim.o.completeopt = 'menuone,noselect'

-- Whether the server of the buffer answers.
function _G.netsharp_ready()
  local _, client = next(vim.lsp.buf_get_clients(0))
  return client ~= nil and client.initialized == true
end

-- What the open list shows, as JSON.
function _G.netsharp_listed()
  local shown = {}
  for _, item in ipairs(vim.fn.complete_info({ 'items' }).items) do
    table.insert(shown, item.word)
  end
  return vim.json.encode(shown)
end
