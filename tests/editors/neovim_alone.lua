-- Neovim 0.7 with our own files and no server: one sentence, however many files are opened, and the
-- text can be edited. NETSHARP_FILE is the file to open.
local checks = dofile(vim.fn.expand('<sfile>:p:h') .. '/neovim_checks.lua')

checks.run(function()
  local said = {}
  vim.notify = function(message, level)
    table.insert(said, { message = message, level = level })
  end
  local buffer = checks.open(os.getenv('NETSHARP_FILE'))
  vim.cmd('edit ' .. vim.fn.fnameescape(os.getenv('NETSHARP_FILE') .. '.copy.netsharp'))
  checks.check('said once', #said == 1, said)
  checks.check('as a warning', said[1] and said[1].level == vim.log.levels.WARN, said)
  checks.check('what to do', said[1] and said[1].message:find('pip install netsharp', 1, true), said)
  checks.check('no error', vim.v.errmsg == '', vim.v.errmsg)
  checks.check('file type', vim.bo[buffer].filetype == 'netsharp', vim.bo[buffer].filetype)
  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '// edited' })
  checks.check('edited', checks.lines(buffer)[1] == '// edited', checks.lines(buffer))
end)
