; Written by `cargo dev gen` from grammar/src/words.rs. Change grammar/src/editors, not this file.

[@@DECLARATIONS@@ @@CONTROL@@] @keyword
[@@OPERATORS@@] @keyword.operator
[(boolean) (none)] @constant.builtin

(comment) @comment
(string) @string
(escape) @string.escape
(interpolation ["${" "}"] @punctuation.special)
(number) @number
(unit) @type.builtin

(attribute "@" @attribute name: (name) @attribute)
(use_declaration name: (name) @module)
(fn_declaration name: (name) @function)
(type_declaration name: (name) @type)
(type_name (name) @type)
(fn_parameter name: (name) @variable.parameter)
(parameters (name) @variable.parameter)
(argument name: (key) @property)
(entry name: (key) @property)
(type_field name: (key) @property)
(field name: (key) @property)
(call callee: (field name: (key) @function.call))
(call callee: (name) @function.call)

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" "."] @punctuation.delimiter
["|>" "??" "==" "!=" "<=" ">=" "=>" "->" "=" "+" "-" "*" "/" "%" ".." "?"] @operator
