;;; emacs-hosts.el --- Emacs before and after hosts are served  -*- lexical-binding: t -*-

;; emacs -q --batch -L editors/emacs -l tests/editors/emacs-checks.el -l tests/editors/emacs-hosts.el
;; NETSHARP_FILE is a file of Python that holds a specification with one fault.

(require 'company nil t)
(require 'python)
(require 'sql)
(define-derived-mode netsharp-test-sql-mode sql-mode "Derived")

(defconst netsharp-test-modes
  '(python-mode python-ts-mode ess-r-mode markdown-mode markdown-ts-mode sql-mode))

(defun netsharp-test-state ()
  "What decides whether a buffer of a host is served, and by which program."
  (mapcar (lambda (mode)
            (let ((hook (intern (format "%s-hook" mode))))
              (list (eglot--lookup-mode mode) (and (boundp hook) (symbol-value hook)))))
          netsharp-test-modes))

(defun netsharp-test-main ()
  (let ((before (netsharp-test-state)))
    (require 'netsharp-hosts)
    (netsharp-test-check "loading changes nothing" (equal before (netsharp-test-state))
                         (netsharp-test-state)))
  (find-file (getenv "NETSHARP_FILE"))
  (run-hooks 'post-command-hook)
  (netsharp-test-check "not served unless asked for" (not (bound-and-true-p eglot--managed-mode)))
  (kill-buffer)
  (netsharp-serve-hosts '((sql-mode . "sql")))
  (netsharp-test-check "only the modes that are named"
                       (not (memq #'netsharp--serve-host (bound-and-true-p python-mode-hook))))
  (netsharp-serve-hosts)
  (netsharp-test-check "the modes" (equal netsharp-test-modes (mapcar #'car netsharp-host-modes))
                       netsharp-host-modes)
  (dolist (row (cons '(netsharp-test-sql-mode . "sql") netsharp-host-modes))
    (let ((found (eglot--lookup-mode (car row))))
      (netsharp-test-check (format "%s" (car row))
                           (and (equal (cdr row) (nth 1 found))
                                (equal netsharp-server-command (funcall (nth 2 found) nil)))
                           found)))
  (let ((netsharp-server-command '("no-such-server" "lsp")))
    (find-file (getenv "NETSHARP_FILE"))
    (netsharp-test-check "said without a program"
                         (string-match-p "no-such-server" (with-current-buffer (messages-buffer)
                                                            (buffer-string))))
    (run-hooks 'post-command-hook)
    (netsharp-test-check "nothing runs without one" (not (bound-and-true-p eglot--managed-mode)))
    (kill-buffer))
  (find-file (getenv "NETSHARP_FILE"))
  (run-hooks 'post-command-hook)
  (netsharp-test-check "served" (bound-and-true-p eglot--managed-mode))
  (netsharp-test-check
   "diagnostics" (netsharp-test-wait (lambda () (flymake-start) (= 1 (length (flymake-diagnostics)))))
   (flymake-diagnostics))
  (when (featurep 'company)
    (netsharp-test-check "lists behind a bracket of ESS"
                         (and (memq 'skeleton-pair-insert-maybe company-begin-commands)
                              (not (memq 'skeleton-pair-insert-maybe
                                         (default-value 'company-begin-commands))))
                         company-begin-commands))
  (netsharp-test-check "the mode's own index" (assoc "fitted (def)" (funcall imenu-create-index-function))
                       (funcall imenu-create-index-function)))

(netsharp-test-run #'netsharp-test-main)
;;; emacs-hosts.el ends here
