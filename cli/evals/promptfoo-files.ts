// What a configuration of promptfoo names in other files: prompts, tests, and values of variables.
import { readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { parse } from 'yaml';
import { readCsv } from './csv.ts';
import type { Losses } from './losses.ts';
import { expectation } from './promptfoo-asserts.ts';
import { textOf } from './template.ts';

/** The files beside a configuration. */
export class Beside {
  private readonly folder: string;
  private readonly losses: Losses;

  constructor(file: string, losses: Losses) {
    this.folder = dirname(resolve(file));
    this.losses = losses;
  }

  /** The text of a named file; null where it is a program, many files, or not there: that is noted. */
  text(name: string): string | null {
    const path = name.replace(/^file:\/\//, '');
    if (/\.(?:[cm]?[jt]s|py|rb)(?::|$)|[*?]|^https?:|\.xlsx?$/.test(path)) {
      this.losses.dropped(path, 'a program, a table or a pattern in place of a file: list the files');
      return null;
    }
    try {
      return readFileSync(resolve(this.folder, path), 'utf8');
    } catch {
      this.losses.dropped(path, 'a file that cannot be read');
      return null;
    }
  }

  /** The value in a file: YAML and JSON are parsed, everything else is text. */
  value(name: string): unknown {
    const text = this.text(name);
    if (text === null) return null;
    return /\.(?:ya?ml|json)$/.test(name) ? parse(text) : text;
  }

  /** The tests in a file. */
  tests(name: string): unknown[] {
    const text = this.text(name);
    if (text === null) return [];
    if (extname(name) === '.csv') return readCsv(text).map(testOfRow);
    if (extname(name) === '.jsonl')
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const value: unknown = parse(text);
    return Array.isArray(value) ? value : [value];
  }
}

/** A row of a CSV file: `__expected…` are assertions, other names with two underscores settings, the rest variables. */
function testOfRow(row: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(row);
  const asserts = entries.filter(([name, text]) => /^__expected\d*$/.test(name) && text !== '');
  return {
    vars: Object.fromEntries(entries.filter(([name]) => !name.startsWith('__'))),
    assert: asserts.map(([, text]) => expectation(text)),
    ...(row['__description'] ? { description: row['__description'] } : {}),
  };
}

/** A prompt: its label and its text. A file of text may hold several between lines of three hyphens. */
export interface Prompt {
  readonly label: string;
  readonly text: string;
}

function inFile(name: string, beside: Beside, label: string | null): Prompt[] {
  const text = beside.text(name);
  if (text === null) return [];
  const parts = /\.(?:txt|md)$/.test(name) ? text.split(/^---\s*$/m) : [text];
  return parts.map((part, n) => ({
    label: label ?? (n === 0 ? name : `${name} ${n + 1}`),
    text: part.trim(),
  }));
}

function promptsOf(one: unknown, beside: Beside): Prompt[] {
  if (typeof one === 'string') {
    const named = /^file:\/\//.test(one) || /^[\w./-]+\.(?:txt|json|ya?ml|md|jsonl|[cm]?[jt]s|py)$/.test(one);
    return named ? inFile(one, beside, null) : [{ label: one, text: one }];
  }
  if (Array.isArray(one)) return [{ label: textOf(one), text: JSON.stringify(one) }];
  if (!isObject(one)) return [];
  const label = typeof one['label'] === 'string' ? one['label'] : null;
  const raw = one['raw'];
  if (typeof raw === 'string') return [{ label: label ?? raw, text: raw }];
  return typeof one['id'] === 'string' ? inFile(one['id'], beside, label) : [];
}

export function readPrompts(value: unknown, beside: Beside): Prompt[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((one) => promptsOf(one, beside));
}
