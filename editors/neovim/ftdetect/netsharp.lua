local content = require('netsharp_content')

-- What a suffix means where a file is not ours: what Neovim takes it for by itself.
local OTHERWISE = { mel = 'mel', bs = 'brighterscript' }

local function judged(suffix)
  return function(_, buffer)
    local lines = vim.api.nvim_buf_get_lines(buffer, 0, 200, false)
    return content[suffix](lines) or OTHERWISE[suffix]
  end
end

vim.filetype.add({
  extension = {
    netsharp = 'netsharp',
    nn = judged('nn'),
    cntk = 'cntk',
    ndl = 'ndl',
    config = judged('config'),
    bs = judged('bs'),
    mel = judged('mel'),
  },
})
