// How the editor looks, in the tokens of the console: they reach into its shadow root.
import { EditorView } from '@codemirror/view';

export const theme = EditorView.theme({
  '&': { fontSize: 'var(--fs-13)', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  // The host draws the ring: the gutter would cover one in here.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', maxHeight: '62vh' },
  '.cm-content': { minHeight: '280px', padding: '10px 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutter': { minHeight: '280px' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--text-3)',
    borderRight: '1px solid var(--line)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--r-m)',
    boxShadow: 'var(--shadow-2)',
    fontFamily: 'var(--font)',
    fontSize: 'var(--fs-13)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-soft)',
    color: 'var(--accent-text)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '650' },
  '.cm-completionInfo, .cm-words': { padding: '6px 10px', maxWidth: '320px' },
  '.cm-diagnostic': { padding: '5px 10px', borderLeft: 'none' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '4px',
  },
  '.cm-lintRange-info': {
    backgroundImage: 'none',
    textDecoration: 'underline dotted var(--warn)',
    textUnderlineOffset: '4px',
  },
  '.cm-panels': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--text)',
    borderTop: '1px solid var(--line)',
  },
});
