// What the playground uses of CodeMirror, as one object.

export { EditorState, Compartment } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection, hoverTooltip } from "@codemirror/view";
export { StreamLanguage, HighlightStyle, syntaxHighlighting, bracketMatching } from "@codemirror/language";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { autocompletion, completionKeymap, startCompletion } from "@codemirror/autocomplete";
export { linter, lintGutter, lintKeymap, setDiagnostics, forEachDiagnostic } from "@codemirror/lint";
export { searchKeymap, highlightSelectionMatches } from "@codemirror/search";
export { toml } from "@codemirror/legacy-modes/mode/toml";
export { tags } from "@lezer/highlight";
