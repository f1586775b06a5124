// How a template is declared: what it needs, an example, and what it says.
import type { Static, TObject } from 'typebox';
import type { Content } from '../content.ts';

export interface Template<S extends TObject = TObject> {
  /** What the caller gives; stored with the mail. No secret is part of it. */
  readonly data: S;
  /** Shown by `svcctl mail preview`, and checked against `data`. */
  readonly sample: Static<S>;
  /** How long it is worth sending: what could not be sent within these hours is dropped. */
  readonly lives_hours: number;
  /**
   * Why it goes. Money that has moved, is about to or is about to be lost; a document or notice that law asks for; the
   * safety of an account: these are never put off for how many mails their address had that day. What strangers can ask
   * for of them has a limit where it is asked for. A `courtesy` is put off.
   */
  readonly duty: 'money' | 'law' | 'security' | 'courtesy';
  /** Its link carries a token: the path is given apart from the data and kept sealed until the mail has gone. */
  readonly secret?: true;
  /** `link` is the secret path, "" where the template has none. */
  content(data: Static<S>, link: string): Content;
}

/** Declares a template. The function only infers the type of its data. */
export function template<S extends TObject>(declaration: Template<S>): Template<S> {
  return declaration;
}

/** Documents and warnings about money: three days of a mail server that is away. */
export const DAYS_3 = 72;
export const DAY = 24;
