;;; netsharp-mode.el --- Net# neural network specifications  -*- lexical-binding: t -*-

;; Author: The netsharp authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages
;; URL: https://pypi.org/project/netsharp/

;;; Commentary:

;; Colours Net# files, indents them by brackets and starts `netsharp lsp' through eglot:
;;
;;   (add-to-list 'load-path "/path/to/editors/emacs")
;;   (require 'netsharp-mode)
;;   (add-hook 'netsharp-mode-hook #'eglot-ensure)

;;; Code:

(require 'eglot)
(require 'xref)

(defgroup netsharp nil
  "Net# neural network specifications."
  :group 'languages)

(defcustom netsharp-server-command '("netsharp" "lsp")
  "Program and arguments that start the language server."
  :type '(repeat string)
  :risky t)

(defcustom netsharp-indent-offset 2
  "Columns by which the inside of brackets is indented."
  :type 'natnum
  :safe #'natnump)

(defvar netsharp-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?\r "> b" table)
    (modify-syntax-entry ?_ "w" table)
    (dolist (operator '(?+ ?- ?= ?< ?> ?& ?| ?! ?^ ?%))
      (modify-syntax-entry operator "." table))
    ;; Net# has no strings.
    (modify-syntax-entry ?\" "." table)
    (modify-syntax-entry ?\' "." table)
    table)
  "Syntax table of `netsharp-mode'.")

(defconst netsharp-font-lock-keywords
  (list
   (cons (regexp-opt '("const" "input" "hidden" "output" "share" "from" "all" "where"
                       "convolve" "max" "mean" "pool" "response" "norm")
                     'words)
         'font-lock-keyword-face)
   (cons (regexp-opt '("auto" "true" "false") 'words) 'font-lock-constant-face)
   (cons (regexp-opt '("sigmoid" "linear" "softmax" "rlinear" "square" "sqrt" "srlinear"
                       "abs" "tanh" "brlinear")
                     'words)
         'font-lock-builtin-face)
   '("\\_<\\(?:input\\|hidden\\|output\\)\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)"
     1 font-lock-function-name-face)
   '("\\_<const\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-variable-name-face)
   '("\\_<from\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-type-face)
   '("\\_<\\([[:upper:]][[:alpha:]]*\\)\\s-*=" 1 font-lock-variable-name-face))
  "What `netsharp-mode' colours beside comments.")

(defun netsharp-indent-line ()
  "Indent the line by the brackets that are open before it."
  (interactive)
  (let* ((depth (save-excursion
                  (back-to-indentation)
                  (- (car (syntax-ppss)) (if (looking-at "[]})]") 1 0))))
         (column (* netsharp-indent-offset (max 0 depth))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;; eglot shows what it finds by these commands as a list of references, even where it is one place.
(defun netsharp--show-xrefs (fetcher alist)
  "Go to the only implementation or declaration that eglot found; list what else FETCHER gives.
ALIST is as for `xref-show-xrefs-function'."
  (let ((found (bound-and-true-p eglot--lsp-xref-refs)))
    (if (and found (null (cdr found)))
        (xref-pop-to-location (car found) (cdr (assq 'display-action alist)))
      (funcall (default-value 'xref-show-xrefs-function) fetcher alist))))

(defun netsharp-go-to-implementations ()
  "Let `eglot-find-implementation' go to a single place in this buffer."
  (setq-local xref-show-xrefs-function #'netsharp--show-xrefs))

;;;###autoload
(define-derived-mode netsharp-mode prog-mode "Net#"
  "Major mode for Net# neural network specifications."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "\\(?://+\\|/\\*+\\)\\s-*")
  (setq-local comment-end "")
  (setq-local indent-line-function #'netsharp-indent-line)
  (setq-local indent-tabs-mode nil)
  (netsharp-go-to-implementations)
  (setq-local font-lock-defaults '(netsharp-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(?:nn\\|netsharp\\)\\'" . netsharp-mode))

(add-to-list 'eglot-server-programs
             '(netsharp-mode . (lambda (&rest _) netsharp-server-command)))

(provide 'netsharp-mode)
;;; netsharp-mode.el ends here
