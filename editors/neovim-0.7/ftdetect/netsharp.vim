autocmd BufRead,BufNewFile *.netsharp setfiletype netsharp
autocmd BufRead,BufNewFile *.cntk setfiletype cntk
autocmd BufRead,BufNewFile *.ndl setfiletype ndl
autocmd BufRead,BufNewFile *.nn,*.config,*.bs,*.mel lua require('netsharp').judge()
