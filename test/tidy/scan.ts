// A small scanner that separates comments and strings from code in TypeScript, so that a rule about code does not
// trip over a comment that explains it. Line breaks stay, so that line numbers stay.

export interface Scanned {
  /** The text with comments made blank. */
  readonly code: string;
  /** The text with comments and the insides of strings and template texts made blank. */
  readonly bare: string;
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** Where the string that opens at `at` ends, exclusive. Template strings end at their closing backtick. */
function endOfString(text: string, at: number): number {
  const quote = text[at];
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (quote === '`' && text[i] === '$' && text[i + 1] === '{') i = endOfHole(text, i + 2) - 1;
    else if (text[i] === quote) return i + 1;
    else if (text[i] === '\n' && quote !== '`') return i;
  }
  return text.length;
}

/** Where the `${…}` whose inside begins at `at` ends, exclusive. */
function endOfHole(text: string, at: number): number {
  let depth = 1;
  for (let i = at; i < text.length; i++) {
    const c = text[i];
    if (c === '{') depth++;
    else if (c === '}' && --depth === 0) return i + 1;
    else if (c === '"' || c === "'" || c === '`') i = endOfString(text, i) - 1;
  }
  return text.length;
}

/** Whether a slash at `at` begins a regular expression: it does where a value cannot stand before it. */
function beginsRegex(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 20), at).trimEnd();
  return /(^|[=([{,;:!&|?+\-*%<>~^]|\b(return|typeof|case|in|of))$/.test(before);
}

function endOfRegex(text: string, at: number): number {
  let inClass = false;
  for (let i = at + 1; i < text.length; i++) {
    const c = text[i];
    if (c === '\\') i++;
    else if (c === '[') inClass = true;
    else if (c === ']') inClass = false;
    else if (c === '\n') return i;
    else if (c === '/' && !inClass) return i + 1;
  }
  return text.length;
}

/** Scans a TypeScript file. */
export function scan(text: string): Scanned {
  let code = '';
  let bare = '';
  for (let i = 0; i < text.length; ) {
    const c = text[i] as string;
    const two = text.slice(i, i + 2);
    if (two === '//' || two === '/*') {
      const close = two === '//' ? text.indexOf('\n', i) : text.indexOf('*/', i + 2) + 2;
      const end = close < i + 2 ? text.length : close;
      code += blank(text.slice(i, end));
      bare += blank(text.slice(i, end));
      i = end;
    } else if (c === '"' || c === "'" || c === '`') {
      const end = endOfString(text, i);
      code += text.slice(i, end);
      bare += c + blank(text.slice(i + 1, end - 1)) + (end - i > 1 ? c : '');
      i = end;
    } else if (c === '/' && beginsRegex(text, i)) {
      const end = endOfRegex(text, i);
      code += text.slice(i, end);
      bare += blank(text.slice(i, end));
      i = end;
    } else {
      code += c;
      bare += c;
      i++;
    }
  }
  return { code, bare };
}
