-- Neovim 0.7 with our own files on a folder of CNTK experiments: types of files, diagnostics, hover,
-- definition, rename and formatting over the files of one experiment.  Run as neovim.lua is;
-- NETSHARP_FILE is the configuration.
local checks = dofile(vim.fn.expand('<sfile>:p:h') .. '/neovim_checks.lua')

-- The file type, and how a comment is written where the file is ours.
local TYPES = {
  ['layers.bs'] = { 'brainscript', '# %s' },
  ['edit.mel'] = { 'cntkmel', '# %s' },
  ['old.ndl'] = { 'ndl', '# %s' },
  ['old.config'] = { 'cntk', '# %s' },
  ['digits.cntk'] = { 'cntk', '# %s' },
}
local OTHERS = { 'app.config', 'main.bs', 'maya.mel' }

local function place(buffer, words, after)
  for number, line in ipairs(checks.lines(buffer)) do
    local start = line:find(words, 1, true)
    if start then
      return { line = number - 1, character = start - 1 + after }
    end
  end
end

local function text(buffer)
  return table.concat(checks.lines(buffer), '\n')
end

local function errors(buffer)
  return vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR })
end

checks.run(function()
  local file = os.getenv('NETSHARP_FILE')
  local folder = vim.fn.fnamemodify(file, ':h') .. '/'
  local buffer = checks.open(file)
  local client = checks.client(buffer)
  local buffers = {}
  for name, wanted in pairs(TYPES) do
    vim.cmd('edit ' .. folder .. name)
    buffers[name] = vim.api.nvim_get_current_buf()
    local got = { vim.bo.filetype, vim.bo.commentstring }
    checks.check(name .. ' is ' .. wanted[1], vim.deep_equal(got, wanted), got)
    local attached = vim.lsp.buf_get_clients(buffers[name])
    checks.check(name .. ' has the same server', attached[client.id] ~= nil, vim.tbl_keys(attached))
  end
  for _, name in ipairs(OTHERS) do
    vim.cmd('edit ' .. folder .. name)
    local got = vim.bo.filetype
    local ours = vim.tbl_contains({ 'cntk', 'brainscript', 'ndl', 'cntkmel' }, got)
    checks.check(name .. ' is left alone', not ours, got)
  end
  vim.cmd('edit ' .. file)

  checks.check('one error', checks.wait(function()
    return #errors(buffer) == 1
  end), errors(buffer))
  local found = errors(buffer)[1] or {}
  local wanted = place(buffer, '(hiden)', 1)
  local there = found.lnum == wanted.line and found.col == wanted.character
  checks.check('inside the network', found.code == 'BS020' and there, found)

  local hover = checks.ask(buffer, client, 'textDocument/hover', {
    position = place(buffer, 'features = Input', 2),
  })
  checks.check('hover', hover and hover.contents.value:find('[784]', 1, true), hover)

  local use = place(buffer, 'DenseTanh', 3)
  local target = checks.ask(buffer, client, 'textDocument/definition', { position = use })
  target = target and (target[1] or target) or {}
  local range = target.targetSelectionRange or target.range or { start = {} }
  local uri = target.targetUri or target.uri or ''
  checks.check('definition in the included file', uri:find('layers.bs', 1, true) ~= nil
    and range.start.line == 1, target)

  -- As its own command goes: from a call to the line that gives its value.
  vim.api.nvim_win_set_cursor(0, { use.line + 1, use.character })
  vim.lsp.buf.implementation()
  checks.check('implementation', checks.wait(function()
    return vim.fn.expand('%:t') == 'layers.bs' and vim.fn.line('.') == 4
  end), { vim.fn.expand('%:t'), vim.fn.line('.') })
  vim.cmd('edit ' .. file)

  local edit = checks.ask(buffer, client, 'textDocument/rename', {
    position = use,
    newName = 'TanhLayer',
  })
  vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding or 'utf-16')
  checks.check('rename here', text(buffer):find('hidden = TanhLayer {100}', 1, true) ~= nil, edit)
  local layers = text(buffers['layers.bs'])
  checks.check('rename there', layers:find('TanhLayer {outDim}', 1, true) ~= nil, layers)

  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { 'Unused={3;  4 }  # Nobody reads it.' })
  vim.lsp.buf.formatting_sync(nil, 10000)
  local first = checks.lines(buffer)[1]
  checks.check('formatting', first == 'Unused = {3; 4}  # Nobody reads it.', first)

  checks.stop(client)
end)
