-- Neovim 0.7 to 0.10: one server a folder, attached to every buffer of Net# and of CNTK.
-- Copy the folders of `editors/neovim-0.7`, and `ftplugin` and `lua` of `editors/neovim`, into
-- ~/.config/nvim and put require('netsharp').setup() into init.lua.
-- setup({ autotrigger = true }) opens lists while words are typed; setup({ hosts = true }) also serves
-- specifications inside Python, R, Markdown and SQL.
local M = { cmd = { 'netsharp', 'lsp' }, on_attach = nil, autotrigger = false }

local FILETYPES = { 'netsharp', 'cntk', 'brainscript', 'ndl', 'cntkmel' }
-- Texts that may hold specifications.
local HOSTS = { 'python', 'r', 'markdown', 'rmd', 'quarto', 'sql' }

local clients = {}
-- Whether it was said that there is no server: once is enough for all buffers.
local told = false

local function root_of(file)
  local markers = { 'netsharp.toml', 'pyproject.toml', '.git' }
  local folder = vim.fn.fnamemodify(file, ':p:h')
  local here = folder
  while true do
    for _, marker in ipairs(markers) do
      if vim.fn.empty(vim.fn.glob(here .. '/' .. marker)) == 0 then
        return here
      end
    end
    local above = vim.fn.fnamemodify(here, ':h')
    if above == here then
      return folder
    end
    here = above
  end
end

-- A file that shares its suffix with files of others gets a type where its text is ours.
function M.judge()
  local suffix = vim.fn.expand('<afile>:e'):lower()
  local lines = vim.api.nvim_buf_get_lines(0, 0, 200, false)
  local filetype = require('netsharp_content')[suffix](lines)
  if filetype then
    vim.bo.filetype = filetype
  end
end

-- What this client can: where lists open by themselves, texts without marks of places to fill in.
local function able()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  if M.autotrigger then
    capabilities.textDocument.completion.completionItem.snippetSupport = false
  end
  return capabilities
end

-- Nil without a server: the buffer is edited as any other.
function M.attach(buffer)
  if vim.fn.executable(M.cmd[1]) == 0 then
    if not told then
      told = true
      local advice = "Net#: there is no program '%s'. Install it with 'pip install netsharp', or name it: "
        .. "require('netsharp').setup({ cmd = { PROGRAM, 'lsp' } })."
      vim.notify(advice:format(M.cmd[1]), vim.log.levels.WARN)
    end
    return nil
  end
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  if not clients[root] or vim.lsp.get_client_by_id(clients[root]) == nil then
    clients[root] = vim.lsp.start_client({
      name = 'netsharp',
      cmd = M.cmd,
      root_dir = root,
      -- The type `mel` is of another language.
      get_language_id = function(_, filetype)
        return filetype == 'cntkmel' and 'mel' or filetype
      end,
      on_attach = M.on_attach,
      capabilities = able(),
    })
  end
  vim.lsp.buf_attach_client(buffer, clients[root])
  -- Ctrl-X Ctrl-O completes; later versions set this themselves.
  if vim.bo[buffer].omnifunc == '' then
    vim.bo[buffer].omnifunc = 'v:lua.vim.lsp.omnifunc'
  end
  if M.autotrigger then
    require('netsharp_lists').attach(buffer, clients[root])
  end
  vim.api.nvim_create_autocmd('CompleteDone', { buffer = buffer, callback = M.part_lines })
  return clients[root]
end

-- Until 0.11 a proposal of several lines is put in as one, with zeros for line ends: parts them.
function M.part_lines()
  local line = vim.api.nvim_get_current_line()
  if not line:find('%z') then
    return
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local indented = '\n' .. line:match('^[ \t]*')
  local function parts(text)
    return vim.split((text:gsub('%z', indented)), '\n', { plain = true })
  end
  local before = parts(line:sub(1, column))
  vim.api.nvim_buf_set_lines(0, row - 1, row, true, parts(line))
  vim.api.nvim_win_set_cursor(0, { row + #before - 1, #before[#before] })
end

function M.setup(options)
  M.cmd = options and options.cmd or M.cmd
  M.on_attach = options and options.on_attach or M.on_attach
  M.autotrigger = options and options.autotrigger or M.autotrigger
  if M.autotrigger then
    -- A list that opens by itself must put nothing in by itself.
    vim.o.completeopt = 'menuone,noselect'
  end
  vim.api.nvim_create_autocmd('FileType', {
    pattern = options and options.hosts and vim.list_extend(vim.deepcopy(FILETYPES), HOSTS) or FILETYPES,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
end

return M
