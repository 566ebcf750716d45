;;; emacs-checks.el --- Checks of a script of Emacs, printed as they come  -*- lexical-binding: t -*-

;; NETSHARP_COMMAND is the server (words apart by spaces).

(require 'package)
(package-initialize)
(require 'cntk-mode)
(require 'flymake)

(setq netsharp-server-command (split-string (getenv "NETSHARP_COMMAND"))
      eglot-sync-connect 15
      eglot-autoshutdown nil
      flymake-no-changes-timeout nil
      make-backup-files nil
      create-lockfiles nil)

(defvar netsharp-test-failed 0)

(defun netsharp-test-check (name fine &optional detail)
  (unless fine (setq netsharp-test-failed (1+ netsharp-test-failed)))
  (princ (format "%s %s%s\n" (if fine "ok  " "FAIL") name (if fine "" (format ": %S" detail)))))

(defun netsharp-test-wait (condition)
  (let ((end (+ (float-time) 15)) value)
    (while (and (not (setq value (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.02))
    value))

(defun netsharp-test-colour (word)
  (goto-char (point-min))
  (let ((case-fold-search nil))
    (search-forward word))
  (get-text-property (match-beginning 0) 'face))

(defun netsharp-test-run (main)
  (condition-case fault
      (funcall main)
    (error (netsharp-test-check "script" nil fault)))
  (princ (format "%d failed\n" netsharp-test-failed))
  (kill-emacs (if (zerop netsharp-test-failed) 0 1)))
;;; emacs-checks.el ends here
