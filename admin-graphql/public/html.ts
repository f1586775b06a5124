// Writing HTML: every value that is put into a piece is text, unless it is a piece itself. Pure.
import { escaped } from '@svc/http/index.ts';

/** HTML that was written here. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | null | false | readonly (Html | false | null)[];

function write(value: Value): string {
  if (value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escaped(value);
  return value.map((one) => write(one)).join('');
}

/** A piece of HTML, with everything between its parts escaped; null and false are nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(
    parts.map((part, at) => part + (at < values.length ? write(values[at] ?? null) : '')).join(''),
  );
}
