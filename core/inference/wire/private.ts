// Members of an upstream's answer that are no caller's business: what a server says of its own working.

import type { JsonObject } from '../../kernel/index.ts';
import { changeMembers, duplicated, scanObject, splice } from './scan.ts';

/** Names that begin so are private by the convention of llama.cpp, whose `__verbose` has the prompt and its paths. */
const PRIVATE = '__';

/** The change that takes out those of `names` which are private or which the endpoint's entry hides. */
export function heldBack(names: Iterable<string>, hide: readonly string[] = []): Record<string, null> {
  const left: Record<string, null> = {};
  for (const name of names) if (name.startsWith(PRIVATE) || hide.includes(name)) left[name] = null;
  return left;
}

/** `text`, which is `value`, without those of its members; the same text where it has none. */
export function shownOf(text: string, value: JsonObject, hide?: readonly string[]): string {
  const left = heldBack(Object.keys(value), hide);
  if (Object.keys(left).length === 0) return text;
  const body = Buffer.from(text);
  const top = scanObject(body);
  if (top !== null && duplicated(top) === null) return splice(body, changeMembers(top, left)).toString();
  const kept = Object.entries(value).filter(([name]) => !Object.hasOwn(left, name));
  return JSON.stringify(Object.fromEntries(kept));
}
