-- Which language a file is in that shares its suffix with files of others: judged by its first
-- lines. Nil where it is none of ours.
local M = {}

-- `.nn` belongs to others too: only a file whose first code is a declaration is Net#.
local DECLARES = { const = true, input = true, hidden = true, output = true, share = true }
-- What a configuration of CNTK runs a command by.
local KEYS = { command = true, action = true, reader = true, sgd = true, modelpath = true }
local EDITS = {
  'loadmodel', 'createmodel', 'setdefaultmodel', 'savemodel', 'savedefaultmodel', 'copynode',
  'setproperty', 'setinput', 'deletenode', 'removenode', 'rename', 'dumpmodel', 'loadndlsnippet',
}

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

function M.nn(lines)
  local code, inside = '', false
  for _, line in ipairs(lines) do
    code, inside = code_of(line, inside)
    if code:match('[^%s;]') then
      local word, rest = code:match('^[%s;]*(%a+)(.*)')
      local named = word ~= nil and (rest:match('^%s*[%a_{]') or rest:match('^%s*$'))
      return named and DECLARES[word:lower()] and 'netsharp' or nil
    end
  end
  return 'netsharp'
end

function M.config(lines)
  if (lines[1] or ''):match('^[\239\187\191%s]*<') then
    return nil
  end
  for _, line in ipairs(lines) do
    local key = (line:match('^%s*([%w_]+)%s*[=%[{]') or ''):lower()
    if KEYS[key] or key:match('networkbuilder$') then
      return 'cntk'
    end
  end
end

-- The first code of BrightScript opens a procedure.
local function is_brightscript(lines)
  for _, line in ipairs(lines) do
    local code = line:lower()
    if code:match("^%s*[^%s'#/]") and not code:match('^%s*rem ') then
      local rest = code:match('^%s*sub%s+[%a_][%w_]*(.*)')
        or code:match('^%s*function%s+[%a_][%w_]*(.*)')
      return rest ~= nil and not rest:match('^%s*=')
    end
  end
  return false
end

function M.bs(lines)
  if is_brightscript(lines) then
    return nil
  end
  for _, line in ipairs(lines) do
    local rest = line:match('^[%s%[({]*[%a_][%w_]*%s*(.*)') or ''
    rest = rest:gsub('^%b()%s*', ''):gsub('^%b{}%s*', '')
    if rest:match('^=[^=]') or rest == '=' then
      return 'brainscript'
    end
  end
end

function M.mel(lines)
  for _, line in ipairs(lines) do
    local code = line:lower():gsub('^%s*[%w_]+%s*=', '')
    local name = code:match('^%s*([%w_]+)%s*%(') or ''
    for _, edit in ipairs(EDITS) do
      if name:sub(1, #edit) == edit then
        return 'cntkmel'
      end
    end
  end
end

return M
