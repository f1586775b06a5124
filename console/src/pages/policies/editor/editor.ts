// The editor of a policy's text: CodeMirror with YAML, completion and words from the schema of the language, and faults
// at their place. A chunk of its own, read when an editor is opened. It stands in a shadow root, where its styles are
// constructed sheets: a <style> element would need an exception of the content security policy.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import { drawSelection, EditorView, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { placeAt, type Schema, schemaAt, suggestionsAt } from './schema-path.ts';
import { theme } from './theme.ts';

/** How long after the last key the text is judged. */
const JUDGED_AFTER_MS = 300;

/** What is wrong with a text, or worth knowing, at a line and a column that begin with 1. */
export interface Remark {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity: 'error' | 'info';
}

interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly read_only: boolean;
  readonly label: string;
  readonly schema: Schema;
  readonly onText: (text: string) => void;
  /** The verdict on a text. */
  readonly judge: (text: string) => Promise<readonly Remark[]>;
}

export interface Editor {
  /** Puts the cursor at a line and a column. */
  goTo(place: { line: number; column: number }): void;
  close(): void;
}

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-text)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--ok)' },
  { tag: tags.comment, color: 'var(--text-3)' },
]);

function offsetOf(doc: Text, { line, column }: { line: number; column: number }): number {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(at.from + Math.max(0, column - 1), at.to);
}

/** A remark from its place to the end of its line. */
function diagnosticOf(doc: Text, remark: Remark): Diagnostic {
  const from = offsetOf(doc, remark);
  const { to } = doc.lineAt(from);
  return { from, to: Math.max(from, to), severity: remark.severity, message: remark.message };
}

function completer(schema: Schema) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const place = placeAt(state.sliceDoc(0, pos));
    const word = /[\w-]*$/.exec(place.word)?.[0] ?? '';
    // Unasked it comes with the first letter alone, so that Enter and the arrows stay those of the text.
    if (!explicit && word === '') return null;
    const options = suggestionsAt(schema, place).map(({ label, kind, info }) => ({
      label,
      type: kind === 'key' ? 'property' : 'constant',
      apply: kind === 'key' ? `${label}: ` : label,
      ...(info === undefined ? {} : { info }),
    }));
    return options.length === 0 ? null : { from: pos - word.length, options, validFor: /^[\w-]*$/ };
  };
}

/** What a key means, over the key. */
function words(schema: Schema) {
  return hoverTooltip((view, pos) => {
    const range = view.state.wordAt(pos);
    if (range === null || view.state.sliceDoc(range.to, range.to + 1) !== ':') return null;
    const key = view.state.sliceDoc(range.from, range.to);
    const { path } = placeAt(view.state.sliceDoc(0, range.from));
    const info = schemaAt(schema, [...path, key])?.description;
    if (info === undefined) return null;
    return {
      pos: range.from,
      end: range.to,
      create: () => {
        const dom = document.createElement('div');
        dom.className = 'cm-words';
        dom.textContent = info;
        return { dom };
      },
    };
  });
}

/**
 * Typing over several lines. Left to itself, Chromium joins what remains of them by elements with a style attribute,
 * which the content security policy refuses and reports; the text would be right all the same.
 */
const overLines = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { from, to } = view.state.selection.main;
    const one_line = view.state.doc.lineAt(from).to >= to;
    if (view.state.readOnly) return false;
    if (event.inputType !== 'insertText' || event.data === null || one_line) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

function extensions(options: EditorOptions): Extension {
  const { read_only, label, schema, onText, judge } = options;
  return [
    [lineNumbers(), history(), drawSelection(), indentOnInput(), closeBrackets(), yaml()],
    syntaxHighlighting(highlight),
    autocompletion({ override: [completer(schema)], icons: false }),
    words(schema),
    lintGutter(),
    linter(
      async ({ state }) => {
        const remarks = await judge(state.doc.toString());
        return remarks.map((remark) => diagnosticOf(state.doc, remark));
      },
      { delay: JUDGED_AFTER_MS },
    ),
    // Tab leaves the editor, as it leaves any field.
    keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorState.readOnly.of(read_only),
    overLines,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onText(state.doc.toString());
    }),
    theme,
  ];
}

/** Opens an editor in `parent`. */
export function openEditor(options: EditorOptions): Editor {
  const { parent, text } = options;
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const state = EditorState.create({ doc: text, extensions: extensions(options) });
  const view = new EditorView({ state, parent: root, root });
  forceLinting(view);
  return {
    goTo(place) {
      view.dispatch({ selection: { anchor: offsetOf(view.state.doc, place) }, scrollIntoView: true });
      view.focus();
    },
    close: () => view.destroy(),
  };
}
