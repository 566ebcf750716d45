-- Neovim 0.11 and later: copy the folders of `editors/neovim` into ~/.config/nvim and call
-- vim.lsp.enable('netsharp').
return {
  cmd = { 'netsharp', 'lsp' },
  filetypes = { 'netsharp' },
  root_markers = { 'netsharp.toml', 'pyproject.toml', '.git' },
  -- Keys under "netsharp" are those of the VS Code extension.
  settings = { netsharp = {} },
}
