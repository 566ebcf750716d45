autocmd BufRead,BufNewFile *.netsharp,*.nn setfiletype netsharp
