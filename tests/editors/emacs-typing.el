;;; emacs-typing.el --- Emacs for a person who types  -*- lexical-binding: t -*-

;; NETSHARP_COMMAND is the server (words apart by spaces); the test asks through a socket in
;; NETSHARP_SOCKETS.  What serves hosts is loaded behind this file, as the README has it.  Lists are those of `company-mode', which opens them while words are typed.

;; The home of a test is a new one: what is compiled for it is compiled each time.
(setq native-comp-deferred-compilation nil
      native-comp-jit-compilation nil)
(require 'package)
(package-initialize)
(require 'cntk-mode)
(require 'company)
(require 'json)
(require 'server)

(setq netsharp-server-command (split-string (getenv "NETSHARP_COMMAND"))
      company-minimum-prefix-length 1
      company-idle-delay 0.05
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
(dolist (hook '(prog-mode-hook text-mode-hook))
  (add-hook hook #'company-mode))

(defun netsharp-test-open (file line)
  "Show a FILE in the only window, with the cursor at the end of a LINE, from 1."
  (select-window (frame-first-window (car (frame-list))))
  (delete-other-windows)
  (switch-to-buffer (find-file-noselect file))
  (goto-char (point-min))
  (forward-line (1- line))
  (end-of-line)
  (file-name-nondirectory buffer-file-name))

(defun netsharp-test-ready ()
  "Whether the server of the buffer that is typed into answers."
  (with-current-buffer (window-buffer (selected-window))
    (and (fboundp 'eglot-current-server) (eglot-current-server) t)))

(defun netsharp-test-seen (wanted unwanted)
  "What is seen, as JSON.
The line, the first labels of the open list, those that begin with an UNWANTED word, the first that
begins as WANTED, from 1 (0: none), and the text that it puts in."
  (with-current-buffer (window-buffer (selected-window))
    ;; While the server is asked about a key, the list is that of the key before.
    (let* ((listed (and (eql company-point (point))
                        (mapcar #'substring-no-properties company-candidates)))
           (begins (lambda (label)
                     (and (string-match "\\`[[:alnum:]]+" label)
                          (member (match-string 0 label) unwanted))))
           (at (seq-position listed wanted
                             (lambda (label begin) (string-prefix-p begin label))))
           (item (and at (get-text-property 0 'eglot--lsp-item (nth at company-candidates)))))
      (json-encode
       (list :line (buffer-substring-no-properties (line-beginning-position) (point))
             :listed (vconcat (seq-take listed 10))
             :begun (vconcat (seq-filter begins listed))
             :at (if at (1+ at) 0)
             :text (or (plist-get (plist-get item :textEdit) :newText) ""))))))

(defun netsharp-test-text ()
  "The text of the buffer that is typed into, as JSON."
  (with-current-buffer (window-buffer (selected-window))
    (json-encode-string (buffer-substring-no-properties (point-min) (point-max)))))

(defun netsharp-test-forget ()
  "Close the buffer that is typed into, and what was typed."
  (with-current-buffer (window-buffer (selected-window))
    (company-cancel)
    (set-buffer-modified-p nil)
    (kill-buffer)))

(server-start)
;;; emacs-typing.el ends here
