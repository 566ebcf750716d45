;;; emacs.el --- Emacs with netsharp-mode and eglot against the server  -*- lexical-binding: t -*-

;; emacs -q --batch -L editors/emacs -l tests/editors/emacs-checks.el -l tests/editors/emacs.el
;; NETSHARP_FILE is the file to open.

(defun netsharp-test-main ()
  (find-file (getenv "NETSHARP_FILE"))
  (netsharp-test-check "mode" (eq major-mode 'netsharp-mode) major-mode)
  (font-lock-ensure)
  (netsharp-test-check "keyword" (eq (netsharp-test-colour "input") 'font-lock-keyword-face))
  (netsharp-test-check "layer" (eq (netsharp-test-colour "Hidden") 'font-lock-function-name-face))
  (netsharp-test-check "activation" (eq (netsharp-test-colour "softmax") 'font-lock-builtin-face))
  (setq-local eldoc-documentation-functions nil)
  (apply #'eglot (eglot--guess-contact))
  (let* ((server (eglot-current-server))
         (process (jsonrpc--process server)))
    (netsharp-test-check
     "diagnostics"
     (netsharp-test-wait (lambda () (flymake-start) (= 1 (length (flymake-diagnostics)))))
     (flymake-diagnostics))
    (let ((found (car (flymake-diagnostics))))
      (netsharp-test-check "diagnostic place"
                           (and found (equal "Imge" (buffer-substring
                                                     (flymake-diagnostic-beg found)
                                                     (flymake-diagnostic-end found))))
                           found)
      (netsharp-test-check "diagnostic words"
                           (and found (string-match-p "Image" (flymake-diagnostic-text found)))
                           found))
    (goto-char (point-min))
    (search-forward "hidden H")
    (let ((hover (jsonrpc-request server :textDocument/hover
                                  (eglot--TextDocumentPositionParams))))
      (netsharp-test-check "hover"
                           (string-match-p "Hidden" (plist-get (plist-get hover :contents) :value))
                           hover))
    (search-forward "Imge")
    (let* ((actions (eglot-code-actions (match-beginning 0) (match-end 0) "quickfix" nil))
           (fix (seq-find (lambda (action) (eq t (plist-get action :isPreferred))) actions)))
      (netsharp-test-check "code action" fix actions)
      (when fix
        (let ((eglot-confirm-server-initiated-edits nil))
          (eglot--apply-workspace-edit (plist-get fix :edit)))))
    (netsharp-test-check "code action applied"
                         (save-excursion (goto-char (point-min)) (search-forward "from Image" nil t))
                         (buffer-string))
    (eglot-format-buffer)
    (netsharp-test-check "formatting"
                         (save-excursion (goto-char (point-min))
                                         (search-forward "\noutput Digit [10] softmax" nil t))
                         (buffer-string))
    (eglot-shutdown server)
    (netsharp-test-check "server ends"
                         (netsharp-test-wait (lambda () (not (process-live-p process)))))))

(netsharp-test-run #'netsharp-test-main)
;;; emacs.el ends here
