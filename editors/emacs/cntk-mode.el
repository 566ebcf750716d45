;;; cntk-mode.el --- The files of CNTK: configurations, BrainScript, NDL, MEL  -*- lexical-binding: t -*-

;; Author: The netsharp authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages
;; URL: https://pypi.org/project/netsharp/

;;; Commentary:

;; Modes for the four languages of CNTK, indented by brackets, with `netsharp lsp' through eglot:
;;
;;   (add-to-list 'load-path "/path/to/editors/emacs")
;;   (require 'cntk-mode)
;;   (dolist (hook '(cntk-mode-hook brainscript-mode-hook ndl-mode-hook cntk-mel-mode-hook))
;;     (add-hook hook #'eglot-ensure))
;;
;; Files that end in .config, .bs or .mel get a mode where their text is CNTK's.

;;; Code:

(require 'netsharp-mode)

(defvar cntk-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?$ "." table)
    (modify-syntax-entry ?\\ "." table)
    (dolist (operator '(?+ ?- ?= ?* ?: ?/ ?' ?|))
      (modify-syntax-entry operator "." table))
    table)
  "Syntax table of `cntk-mode'.")

(defvar brainscript-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124" table)
    (modify-syntax-entry ?* ". 23b" table)
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?' "\"" table)
    (modify-syntax-entry ?$ "." table)
    (modify-syntax-entry ?\\ "." table)
    (dolist (operator '(?+ ?- ?= ?< ?> ?& ?| ?! ?%))
      (modify-syntax-entry operator "." table))
    table)
  "Syntax table of `brainscript-mode'.")

(defconst cntk-font-lock-keywords
  (list
   '("\\$[[:alpha:]_][^$\n\"]*\\$" 0 font-lock-constant-face t)
   '("^include\\_>" . font-lock-keyword-face)
   '("\\_<\\([[:alnum:]_]*NetworkBuilder\\)\\s-*[=[{(]" 1 font-lock-keyword-face)
   '("\\_<\\([[:alpha:]_][[:alnum:]_]*\\)\\s-*(" 1 font-lock-function-name-face)
   '("\\_<\\([[:alpha:]_][[:alnum:]_.]*\\)\\s-*[=[{]" 1 font-lock-variable-name-face))
  "What `cntk-mode', `ndl-mode' and `cntk-mel-mode' colour.")

(defconst brainscript-font-lock-keywords
  (list
   '("\\$[[:alpha:]_][^$\n\"]*\\$" 0 font-lock-constant-face t)
   (cons (regexp-opt '("include" "new" "with" "if" "then" "else" "array") 'symbols)
         'font-lock-keyword-face)
   (cons (regexp-opt '("true" "false") 'symbols) 'font-lock-constant-face)
   '("\\_<\\([[:alpha:]_][[:alnum:]_]*\\)\\s-*[({]" 1 font-lock-function-name-face)
   '("\\_<\\([[:alpha:]_][[:alnum:]_]*\\)\\s-*=[^=]" 1 font-lock-variable-name-face))
  "What `brainscript-mode' colours.")

(defun cntk--set-up (keywords)
  "What the modes of CNTK share; they colour KEYWORDS."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "\\(?:#+\\|//+\\|/\\*+\\)\\s-*")
  (setq-local comment-end "")
  (setq-local indent-line-function #'netsharp-indent-line)
  (setq-local netsharp-indent-offset 4)
  (setq-local indent-tabs-mode nil)
  (netsharp-go-to-implementations)
  (setq-local font-lock-defaults (list keywords)))

;;;###autoload
(define-derived-mode cntk-mode prog-mode "CNTK"
  "Major mode for configurations of CNTK."
  (cntk--set-up 'cntk-font-lock-keywords))

;;;###autoload
(define-derived-mode ndl-mode prog-mode "NDL"
  "Major mode for networks in NDL."
  :syntax-table cntk-mode-syntax-table
  (cntk--set-up 'cntk-font-lock-keywords))

;;;###autoload
(define-derived-mode cntk-mel-mode prog-mode "MEL"
  "Major mode for edits of models in MEL."
  :syntax-table cntk-mode-syntax-table
  (cntk--set-up 'cntk-font-lock-keywords))

;;;###autoload
(define-derived-mode brainscript-mode prog-mode "BrainScript"
  "Major mode for networks in BrainScript."
  (cntk--set-up 'brainscript-font-lock-keywords))

(defconst cntk--contents
  '(("config" cntk-mode "\\`\\(?:\ufeff\\)?[[:space:]]*<"
     "^[ \t]*\\(?:command\\|action\\|reader\\|sgd\\|modelpath\\|[a-z0-9_]*networkbuilder\\)[ \t]*[=[{]")
    ("bs" brainscript-mode
     "\\`\\(?:[ \t]*\\(?:'.*\\|#.*\\|//.*\\|rem .*\\)?\n\\)*[ \t]*\\(?:sub\\|function\\)[ \t]+[a-z_][a-z0-9_]*[ \t]*\\(?:[(\n]\\|as\\_>\\|\\'\\)"
     "^[ \t[({]*[a-z_][a-z0-9_]*[ \t]*\\(?:([^)\n]*)\\|{[^}\n]*}\\)?[ \t]*=\\(?:[^=]\\|$\\)")
    ("mel" cntk-mel-mode "\\`\\'"
     "^[ \t]*\\(?:[a-z0-9_]+[ \t]*=[ \t]*\\)?\\(?:loadmodel\\|createmodel\\|setdefaultmodel\\|save\\(?:default\\)?model\\|copynode\\|set\\(?:property\\|input\\)\\|\\(?:delete\\|remove\\)node\\|rename\\|dumpmodel\\|loadndlsnippet\\)[a-z0-9_]*[ \t]*("))
  "Suffixes that others use too: the mode, what a file is not, what it has.")

(defun cntk--mode-by-content ()
  "The mode for the text of a file whose suffix others use too, or nil."
  (let ((known (and buffer-file-name
                    (assoc (downcase (or (file-name-extension buffer-file-name) ""))
                           cntk--contents)))
        (case-fold-search t))
    (when known
      (save-excursion
        (goto-char (point-min))
        (and (not (looking-at (nth 2 known)))
             (re-search-forward (nth 3 known) 20000 t)
             (nth 1 known))))))

(defun cntk--mode-of-config () (eq (cntk--mode-by-content) 'cntk-mode))
(defun cntk--mode-of-bs () (eq (cntk--mode-by-content) 'brainscript-mode))
(defun cntk--mode-of-mel () (eq (cntk--mode-by-content) 'cntk-mel-mode))

(add-to-list 'magic-mode-alist '(cntk--mode-of-config . cntk-mode))
(add-to-list 'magic-mode-alist '(cntk--mode-of-bs . brainscript-mode))
(add-to-list 'magic-mode-alist '(cntk--mode-of-mel . cntk-mel-mode))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.cntk\\'" . cntk-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ndl\\'" . ndl-mode))

(put 'cntk-mel-mode 'eglot-language-id "mel")
;; One entry a mode: a server of eglot 1.9 has one language.
(dolist (mode '(cntk-mode brainscript-mode ndl-mode cntk-mel-mode))
  (add-to-list 'eglot-server-programs `(,mode . (lambda (&rest _) netsharp-server-command))))

(provide 'cntk-mode)
;;; cntk-mode.el ends here
