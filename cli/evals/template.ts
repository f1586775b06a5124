// Placeholders of the other tools: `{{ item.question }}` and the like, filled from a row.
import { isObject } from '@svc/core/kernel/index.ts';

const PLACEHOLDER = /\{\{-?\s*([^{}]*?)\s*-?\}\}/g;
const PATH = /^[\p{L}_$][\p{L}\p{N}_$-]*(?:(?:\.[\p{L}\p{N}_$-]+)|(?:\[(?:\d+|"[^"]*"|'[^']*')\]))*$/u;

/** The value at a path such as `item.answers[0]`; undefined where there is none. */
export function valueAt(root: unknown, path: string): unknown {
  if (!PATH.test(path)) return undefined;
  const steps = path.match(/[\p{L}\p{N}_$-]+|"[^"]*"|'[^']*'/gu) ?? [];
  let now: unknown = root;
  for (const step of steps) {
    const name = step.replace(/^["'](.*)["']$/s, '$1');
    if (Array.isArray(now)) now = now[Number(name)];
    else if (isObject(now) && Object.hasOwn(now, name)) now = now[name];
    else return undefined;
  }
  return now;
}

/** A value as it stands in a prompt. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export interface Filled {
  readonly text: string;
  /** What stands between braces and has no value; it stays as it is. */
  readonly missing: readonly string[];
}

/** `text` with its placeholders filled from `root`; what they bring in is not looked at again. */
export function fill(text: string, root: unknown): Filled {
  const missing: string[] = [];
  const filled = text.replace(PLACEHOLDER, (whole, path: string) => {
    const value = valueAt(root, path);
    if (value !== undefined && value !== null) return textOf(value);
    missing.push(path);
    return whole;
  });
  return { text: filled, missing };
}

/** The path of a text that is one placeholder and nothing else; null otherwise. */
export function onlyPlaceholder(text: string): string | null {
  const [whole, ...more] = [...text.trim().matchAll(PLACEHOLDER)];
  return whole !== undefined && more.length === 0 && whole[0] === text.trim() ? (whole[1] as string) : null;
}
