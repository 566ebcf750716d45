-- Lists that open while words are typed, in Neovim 0.7 to 0.10, whose client opens none by itself.
-- A list is asked for at a new word and behind the server's trigger characters; while a word goes
-- on, it is narrowed here by what the server says an item is found by, which need not be its text.
local M = {}

-- The last answer: where it is, what stands before its words in the line, its items, and whether there
-- are more for a longer word.
local list = nil
-- The open question: its request and how many were asked.
local request, questions = nil, 0
-- The character of the key that is just pressed; keys that choose an item press none.
local pressed = nil

-- Where an item's text goes, in bytes from the begin of the line.
local function start_of(item, line, column, client)
  local range = item.textEdit and item.textEdit.range
  if range then
    local character = range.start.character
    local bytes = client.offset_encoding == 'utf-8'
    return bytes and character or vim.str_byteindex(line, character, client.offset_encoding == 'utf-16')
  end
  return vim.fn.match(line:sub(1, column), '\\k*$')
end

-- An answer as items of Neovim with what they are found by, all from the same place in the line.
local function items_of(answer, line, column, client)
  local items = answer.items or answer
  table.sort(items, function(one, other)
    return (one.sortText or one.label) < (other.sortText or other.label)
  end)
  local start = column
  for _, item in ipairs(items) do
    start = math.min(start, start_of(item, line, column, client))
  end
  local found = {}
  for _, item in ipairs(items) do
    local before = line:sub(start + 1, start_of(item, line, column, client))
    local text = item.textEdit and item.textEdit.newText or item.insertText or item.label
    table.insert(found, {
      found_by = (before .. (item.filterText or item.label)):lower(),
      shown = {
        word = before .. text,
        abbr = item.label,
        menu = item.detail or '',
        icase = 1,
        dup = 1,
        empty = 1,
      },
    })
  end
  return start, found
end

-- Show the items that what was typed begins; false where there is none.
local function show()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local before = vim.api.nvim_get_current_line():sub(1, column)
  local goes_on = list ~= nil
    and list.buffer == vim.api.nvim_get_current_buf()
    and list.row == row
    and vim.startswith(before, list.before)
  if not goes_on then
    return false
  end
  local typed = before:sub(#list.before + 1):lower()
  local shown = {}
  for _, item in ipairs(list.items) do
    if vim.startswith(item.found_by, typed) then
      table.insert(shown, item.shown)
    end
  end
  if #shown > 0 or vim.fn.pumvisible() == 1 then
    vim.fn.complete(#list.before + 1, shown)
  end
  return #shown > 0
end

local function ask(buffer, client)
  questions = questions + 1
  local question = questions
  if request then
    client.cancel_request(request)
    request = nil
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local _
  _, request = client.request('textDocument/completion', params, function(fault, answer)
    if question ~= questions then
      return
    end
    request = nil
    if fault or not answer or vim.api.nvim_get_mode().mode:sub(1, 1) ~= 'i' then
      return
    end
    local start, items = items_of(answer, line, column, client)
    list = {
      buffer = buffer,
      row = row,
      before = line:sub(1, start),
      items = items,
      incomplete = answer.isIncomplete,
    }
    show()
  end, buffer)
end

-- What a key does: a trigger asks, a word narrows the list or asks; behind anything else no item goes on.
local function after_key(buffer, client)
  local key = pressed
  pressed = nil
  if not key or not client.initialized then
    return
  end
  local offered = client.server_capabilities.completionProvider or {}
  local triggers = vim.tbl_contains(offered.triggerCharacters or {}, key)
  local goes_on = show() and not list.incomplete
  if triggers or (not goes_on and vim.fn.match(key, '\\k') == 0) then
    ask(buffer, client)
  end
end

-- Open lists in a buffer that a client is attached to.
function M.attach(buffer, client_id)
  local group = vim.api.nvim_create_augroup('netsharp_lists_' .. buffer, {})
  vim.api.nvim_create_autocmd('InsertCharPre', {
    group = group,
    buffer = buffer,
    callback = function()
      pressed = vim.v.char
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP' }, {
    group = group,
    buffer = buffer,
    callback = function()
      local client = vim.lsp.get_client_by_id(client_id)
      if client then
        after_key(buffer, client)
      end
    end,
  })
  vim.api.nvim_create_autocmd('InsertLeave', {
    group = group,
    buffer = buffer,
    callback = function()
      list, pressed = nil, nil
      questions = questions + 1
    end,
  })
end

return M
