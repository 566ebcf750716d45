;;; netsharp-hosts.el --- Specifications inside Python, R, Markdown and SQL  -*- lexical-binding: t -*-

;; Author: The netsharp authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages
;; URL: https://pypi.org/project/netsharp/

;;; Commentary:

;; Serves specifications in files of other languages, in the modes that these files have anyway:
;;
;;   (require 'netsharp-hosts)
;;   (netsharp-serve-hosts)
;;
;; Nothing changes before the call.  eglot gives a buffer one server: to keep another one for
;; Python, name the modes, (netsharp-serve-hosts '((sql-mode . "sql"))).

;;; Code:

(require 'netsharp-mode)

;; Each mode with the language id that the server expects.  R Markdown and Quarto are Markdown to it.
(defconst netsharp-host-modes
  '((python-mode . "python")
    (python-ts-mode . "python")
    (ess-r-mode . "r")
    (markdown-mode . "markdown")
    (markdown-ts-mode . "markdown")
    (sql-mode . "sql"))
  "Modes whose texts may hold specifications, with their language ids.
A mode that is not installed is passed over.")

(defun netsharp--complete-in-host ()
  "Complete by the words of Net#.
Where a host has `=' in words, no proposal would begin as they do."
  (with-syntax-table netsharp-mode-syntax-table
    (eglot-completion-at-point)))

(defun netsharp--managed-host ()
  "Take the place of the completion of eglot where it serves this buffer."
  (remove-hook 'completion-at-point-functions #'netsharp--complete-in-host t)
  (when (memq #'eglot-completion-at-point completion-at-point-functions)
    (remove-hook 'completion-at-point-functions #'eglot-completion-at-point t)
    (add-hook 'completion-at-point-functions #'netsharp--complete-in-host nil t)
    ;; What ESS puts brackets in with opens a list as other keys do.
    (when (consp (bound-and-true-p company-begin-commands))
      (setq-local company-begin-commands
                  (cons 'skeleton-pair-insert-maybe company-begin-commands)))))

(defun netsharp--serve-host ()
  "Start the server for this buffer.
Without its program say so, and leave the buffer as it is."
  (let ((program (car netsharp-server-command)))
    (cond
     ((not buffer-file-name))
     ((executable-find program t)
      ;; The index of functions or headings stays that of the mode.
      (setq-local eglot-stay-out-of (cons 'imenu eglot-stay-out-of))
      (add-hook 'eglot-managed-mode-hook #'netsharp--managed-host nil t)
      (eglot-ensure))
     (t
      (message "Net#: there is no program '%s'; install it by 'pip install netsharp', or set `%s'"
               program 'netsharp-server-command)))))

(defun netsharp--host-contact (&rest _)
  "Return the command of the server, as it is set by then."
  netsharp-server-command)

;;;###autoload
(defun netsharp-serve-hosts (&optional modes)
  "Serve specifications in buffers of MODES, or of `netsharp-host-modes'.
MODES is a list of (MODE . LANGUAGE-ID); what is derived from a mode is
served as well."
  (pcase-dolist (`(,mode . ,language) (or modes netsharp-host-modes))
    (add-to-list 'eglot-server-programs
                 `(((,mode :language-id ,language)) . netsharp--host-contact))
    (add-hook (intern (format "%s-hook" mode)) #'netsharp--serve-host)))

(provide 'netsharp-hosts)
;;; netsharp-hosts.el ends here
