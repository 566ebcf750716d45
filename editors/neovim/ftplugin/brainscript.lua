vim.bo.commentstring = '# %s'
vim.bo.comments = ':#,://,s1:/*,mb:*,ex:*/'
vim.bo.shiftwidth = 4
vim.bo.expandtab = true
