//! Starts `netsharp lsp` from the worktree's PATH; everything else is the server's work.

use zed_extension_api as zed;

struct NetSharp;

impl zed::Extension for NetSharp {
    fn new() -> Self {
        NetSharp
    }

    fn language_server_command(
        &mut self,
        _server: &zed::LanguageServerId,
        worktree: &zed::Worktree,
    ) -> zed::Result<zed::Command> {
        let command = worktree
            .which("netsharp")
            .ok_or("netsharp is not on the PATH. Run 'pip install netsharp'.")?;
        Ok(zed::Command {
            command,
            args: vec!["lsp".to_string()],
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(NetSharp);
