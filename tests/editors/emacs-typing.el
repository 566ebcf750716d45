;;; emacs-typing.el --- Emacs for a person who types  -*- lexical-binding: t -*-

;; NETSHARP_COMMAND is the server (words apart by spaces); the test asks through a socket in
;; NETSHARP_SOCKETS.

(require 'package)
(package-initialize)
(require 'cntk-mode)
(require 'server)

(setq netsharp-server-command (split-string (getenv "NETSHARP_COMMAND"))
      eglot-sync-connect nil
      eglot-autoshutdown nil
      make-backup-files nil
      create-lockfiles nil
      auto-save-default nil
      inhibit-startup-screen t
      server-socket-dir (getenv "NETSHARP_SOCKETS")
      server-name "socket")
(dolist (hook '(netsharp-mode-hook cntk-mode-hook ndl-mode-hook cntk-mel-mode-hook
                brainscript-mode-hook))
  (add-hook hook #'eglot-ensure))

(defun netsharp-test-open (file)
  "Show a FILE in the window that keys go to, the only one."
  (select-window (frame-first-window (car (frame-list))))
  (delete-other-windows)
  (buffer-name (switch-to-buffer (find-file-noselect file))))

(defun netsharp-test-ready ()
  "Whether the server of the buffer that is typed into answers."
  (with-current-buffer (window-buffer (selected-window))
    (and (fboundp 'eglot-current-server) (eglot-current-server) t)))

(defun netsharp-test-seen ()
  "The list of candidates, or the text before the cursor where none is shown."
  (if (get-buffer-window "*Completions*")
      (with-current-buffer "*Completions*"
        (buffer-substring-no-properties (point-min) (point-max)))
    (with-current-buffer (window-buffer (selected-window))
      (buffer-substring-no-properties (point-min) (point)))))

(defun netsharp-test-forget (name)
  "Close the buffer of that NAME, and what was typed into it."
  (delete-other-windows)
  (with-current-buffer name
    (set-buffer-modified-p nil)
    (kill-buffer)))

(server-start)
;;; emacs-typing.el ends here
