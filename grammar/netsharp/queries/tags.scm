(layer name: (identifier) @name) @definition.class
(constant name: (identifier) @name) @definition.constant

(bundle source: (identifier) @name) @reference.class
(share_item name: (identifier) @name) @reference.class
(share_item source: (identifier) @name) @reference.class
