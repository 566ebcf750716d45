vim.bo.commentstring = '# %s'
vim.bo.comments = ':#'
vim.bo.shiftwidth = 4
vim.bo.expandtab = true
