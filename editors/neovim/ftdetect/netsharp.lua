-- `.nn` belongs to others too: only a file that begins like a specification is Net#.
local function by_content(_, buffer)
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, 50, false)) do
    if line:match('^%s*//') or line:match('^%s*const%s') or line:match('^%s*input%s')
      or line:match('^%s*hidden%s') or line:match('^%s*auto%s') then
      return 'netsharp'
    end
    if line:match('%S') then
      return nil
    end
  end
  return 'netsharp'
end

vim.filetype.add({ extension = { netsharp = 'netsharp', nn = by_content } })
