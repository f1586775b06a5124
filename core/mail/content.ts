// What a mail says, apart from how it is shown: text and HTML are both made of this, so that they cannot differ.

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  /** Names and values, one under the other. */
  | { readonly kind: 'facts'; readonly rows: readonly (readonly [name: string, value: string])[] }
  /** What the reader is asked to press. A `to` that begins with `/` is a page of the console. */
  | { readonly kind: 'action'; readonly label: string; readonly to: string }
  /** Said in small letters: what to do when the mail is not for the reader. */
  | { readonly kind: 'note'; readonly text: string };

export interface Content {
  readonly subject: string;
  /** What lists of mails show beside the subject. */
  readonly preview: string;
  readonly title: string;
  readonly blocks: readonly Block[];
  /** Why the reader gets this mail: "because you are an owner of Acme". */
  readonly reason: string;
}

/** A paragraph. */
export const text = (words: string): Block => ({ kind: 'text', text: words });
/** A paragraph in small letters. */
export const note = (words: string): Block => ({ kind: 'note', text: words });
/** A button, with its address below it. */
export const action = (label: string, to: string): Block => ({ kind: 'action', label, to });

/** Rows of facts; one whose value is null is left out. */
export function facts(rows: Readonly<Record<string, string | null>>): Block {
  const shown = Object.entries(rows).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  return { kind: 'facts', rows: shown };
}

const DATE = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;

/** A time of the wire as people read it, in UTC, which is named. */
export function timeText(time: string): string {
  const at = new Date(time);
  const clock = at.toISOString().slice(11, 16);
  return `${dateText(time)}, ${clock} UTC`;
}

/** The UTC date of a time of the wire: `21 Nov 2026`. */
export function dateText(time: string): string {
  return new Intl.DateTimeFormat('en-GB', DATE).format(new Date(time));
}
