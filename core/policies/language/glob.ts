// Globs of the language: `*` stands for anything but a slash, `**` for anything. Matched without regular expressions,
// which a hostile pattern could make run for years.

/** Wildcards of one glob; with it the work of a match is bounded by about 17 passes over the text. */
const WILDCARDS_MAX = 8;

/** Why `glob` cannot be used, or null. */
export function refusesGlob(glob: string): string | null {
  const wildcards = glob.match(/\*+/g)?.length ?? 0;
  return wildcards > WILDCARDS_MAX ? `${wildcards} wildcards; expected at most ${WILDCARDS_MAX}` : null;
}

type Part = { readonly text: string } | { readonly over_slash: boolean };

const PARSED_MAX = 4_096;
const parsed = new Map<string, readonly Part[]>();

function partsOf(glob: string): readonly Part[] {
  let parts = parsed.get(glob);
  if (parts === undefined) {
    parts = (glob.match(/\*+|[^*]+/g) ?? []).map((piece) =>
      piece.startsWith('*') ? { over_slash: piece.length > 1 } : { text: piece },
    );
    if (parsed.size >= PARSED_MAX) parsed.clear();
    parsed.set(glob, parts);
  }
  return parts;
}

/** Whether `glob` stands for the whole of `text`. */
export function matchesGlob(glob: string, text: string): boolean {
  const star = glob.indexOf('*');
  if (star === -1) return glob === text;
  // Most globs differ before their first star, or have it at their end.
  for (let i = 0; i < star; i++) if (glob.charCodeAt(i) !== text.charCodeAt(i)) return false;
  if (star === glob.length - 1) return text.length >= star && !text.includes('/', star);
  // The places of `text` that the parts read so far can end at.
  let ends = new Uint8Array(text.length + 1);
  ends[0] = 1;
  for (const part of partsOf(glob)) {
    const next = new Uint8Array(text.length + 1);
    let alive = false;
    let open = false;
    for (let at = 0; at <= text.length; at++) {
      if ('text' in part) {
        if (ends[at] === 1 && text.startsWith(part.text, at)) {
          next[at + part.text.length] = 1;
          alive = true;
        }
        continue;
      }
      open ||= ends[at] === 1;
      if (open) {
        next[at] = 1;
        alive = true;
        if (!part.over_slash && text[at] === '/') open = false;
      }
    }
    if (!alive) return false;
    ends = next;
  }
  return ends[text.length] === 1;
}
