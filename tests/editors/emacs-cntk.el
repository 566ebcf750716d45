;;; emacs-cntk.el --- Emacs with cntk-mode and eglot on a folder of experiments  -*- lexical-binding: t -*-

;; Run as emacs.el is; NETSHARP_FILE is the configuration.

(defconst netsharp-test-modes
  '(("layers.bs" . brainscript-mode) ("edit.mel" . cntk-mel-mode) ("old.ndl" . ndl-mode)
    ("old.config" . cntk-mode) ("digits.cntk" . cntk-mode)))

(defun netsharp-test-errors ()
  (seq-filter (lambda (one) (eq (flymake-diagnostic-type one) 'eglot-error)) (flymake-diagnostics)))

(defun netsharp-test-ask (server method words &rest more)
  (goto-char (point-min))
  (search-forward words)
  (goto-char (1+ (match-beginning 0)))
  (jsonrpc-request server method (append (eglot--TextDocumentPositionParams) more)))

(defun netsharp-test-types (folder)
  (pcase-dolist (`(,name . ,wanted) netsharp-test-modes)
    (find-file (concat folder name))
    (netsharp-test-check name (eq major-mode wanted) major-mode)
    (netsharp-test-check (concat name " comments") (equal comment-start "# ") comment-start))
  (dolist (name '("app.config" "main.bs" "maya.mel"))
    (find-file (concat folder name))
    (netsharp-test-check (concat name " is left alone")
                         (not (memq major-mode (mapcar #'cdr netsharp-test-modes)))
                         major-mode)))

(defun netsharp-test-goes (name words file line)
  "Check that the command on WORDS of the configuration goes to the LINE of a FILE, and come back."
  (let ((before (current-buffer)))
    (goto-char (point-min))
    (search-forward words)
    (goto-char (1+ (match-beginning 0)))
    (call-interactively #'eglot-find-implementation)
    (netsharp-test-check
     name
     (and (equal file (file-name-nondirectory (or buffer-file-name ""))) (= line (line-number-at-pos)))
     (list (buffer-name) (line-number-at-pos)))
    (call-interactively (if (fboundp 'xref-go-back) #'xref-go-back #'xref-pop-marker-stack))
    (netsharp-test-check (concat name ", and back") (eq before (current-buffer)) (buffer-name))))

(defun netsharp-test-implementations ()
  "Go from a call to the line that gives its value, and from a stream to its input."
  (netsharp-test-goes "implementation of a call" "DenseTanh" "layers.bs" 4)
  (netsharp-test-goes "implementation of a stream" "features = { alias" "digits.cntk" 11)
  ;; Several places are a list, as they are for references.
  (goto-char (point-min))
  (search-forward "features")
  (backward-char)
  (call-interactively #'xref-find-references)
  (netsharp-test-check "references are a list" (get-buffer-window "*xref*") (buffer-name))
  (delete-other-windows)
  (find-file (getenv "NETSHARP_FILE")))

(defun netsharp-test-main ()
  (let ((folder (file-name-directory (getenv "NETSHARP_FILE"))))
    (netsharp-test-types folder)
    (find-file (getenv "NETSHARP_FILE"))
    (font-lock-ensure)
    (netsharp-test-check "builder" (eq (netsharp-test-colour "BrainScriptNetworkBuilder")
                                       'font-lock-keyword-face))
    (netsharp-test-check "key" (eq (netsharp-test-colour "minibatchSize")
                                   'font-lock-variable-name-face))
    (setq-local eldoc-documentation-functions nil)
    (apply #'eglot (eglot--guess-contact))
    (let* ((server (eglot-current-server))
           (process (jsonrpc--process server)))
      (netsharp-test-check "language" (equal (eglot--language-id server) "cntk"))
      (netsharp-test-check
       "one error"
       (netsharp-test-wait (lambda () (flymake-start) (= 1 (length (netsharp-test-errors)))))
       (flymake-diagnostics))
      (let ((found (car (netsharp-test-errors))))
        (netsharp-test-check "inside the network"
                             (and found (equal "hiden" (buffer-substring
                                                        (flymake-diagnostic-beg found)
                                                        (flymake-diagnostic-end found))))
                             found))
      (let ((hover (netsharp-test-ask server :textDocument/hover "features = Input")))
        (netsharp-test-check "hover"
                             (string-search "[784]" (plist-get (plist-get hover :contents) :value))
                             hover))
      (let* ((answer (netsharp-test-ask server :textDocument/definition "DenseTanh"))
             (place (if (vectorp answer) (aref answer 0) answer))
             (uri (or (plist-get place :targetUri) (plist-get place :uri))))
        (netsharp-test-check "definition in the included file"
                             (string-suffix-p "layers.bs" uri) answer))
      (netsharp-test-implementations)
      (let ((edit (netsharp-test-ask server :textDocument/rename "DenseTanh"
                                     :newName "TanhLayer"))
            (eglot-confirm-server-initiated-edits nil))
        (eglot--apply-workspace-edit edit)
        (goto-char (point-min))
        (netsharp-test-check "rename here" (search-forward "hidden = TanhLayer {100}" nil t) edit)
        (with-current-buffer "layers.bs"
          (goto-char (point-min))
          (netsharp-test-check "rename there" (search-forward "TanhLayer {outDim}" nil t)
                               (buffer-string))))
      (goto-char (point-min))
      (insert "Unused={3;  4 }  # Nobody reads it.\n")
      (eglot-format-buffer)
      (goto-char (point-min))
      (netsharp-test-check "formatting" (looking-at "Unused = {3; 4}  # Nobody reads it\\.$")
                           (buffer-string))
      (eglot-shutdown server)
      (netsharp-test-check "server ends"
                           (netsharp-test-wait (lambda () (not (process-live-p process))))))))

(netsharp-test-run #'netsharp-test-main)
;;; emacs-cntk.el ends here
