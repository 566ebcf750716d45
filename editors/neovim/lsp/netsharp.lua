-- Neovim 0.11 and later: copy the folders of `editors/neovim` into ~/.config/nvim and call
-- vim.lsp.enable('netsharp').
return {
  cmd = { 'netsharp', 'lsp' },
  filetypes = { 'netsharp', 'cntk', 'brainscript', 'ndl', 'cntkmel' },
  -- The type `mel` is of another language.
  get_language_id = function(_, filetype)
    return filetype == 'cntkmel' and 'mel' or filetype
  end,
  root_markers = { 'netsharp.toml', 'pyproject.toml', '.git' },
  -- Keys under "netsharp" are those of the VS Code extension.
  settings = { netsharp = {} },
}
