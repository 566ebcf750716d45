-- `.nn` belongs to others too: only a file whose first code is a declaration is Net#.
local DECLARES = { const = true, input = true, hidden = true, output = true, share = true }

-- A line without its comments, and whether a comment goes on below it.
local function code_of(line, inside)
  if inside then
    local _, last = line:find('*/', 1, true)
    if not last then
      return '', true
    end
    line = line:sub(last + 1)
  end
  local code = line:gsub('^\239\187\191', ''):gsub('/%*.-%*/', ' '):gsub('//.*', ''):gsub('#.*', '')
  local start = code:find('/*', 1, true)
  return start and code:sub(1, start - 1) or code, start ~= nil
end

local function by_content(_, buffer)
  local code, inside = '', false
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, 200, false)) do
    code, inside = code_of(line, inside)
    if code:match('[^%s;]') then
      local word, rest = code:match('^[%s;]*(%a+)(.*)')
      local named = word ~= nil and (rest:match('^%s*[%a_{]') or rest:match('^%s*$'))
      return named and DECLARES[word:lower()] and 'netsharp' or nil
    end
  end
  return 'netsharp'
end

vim.filetype.add({ extension = { netsharp = 'netsharp', nn = by_content } })
