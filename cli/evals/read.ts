// Reads a file of cases, whichever tool wrote it.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { checkedCases } from '@svc/core/evals/index.ts';
import { isObject, ServiceError } from '@svc/core/kernel/index.ts';
import { parse } from 'yaml';
import { UsageError } from '../command.ts';
import { readCsv } from './csv.ts';
import { areRecords, isInspectLog, readInspectLog, readRecords } from './inspect.ts';
import { scorerNames } from './inspect-scorers.ts';
import { Losses } from './losses.ts';
import { areSamples, isOpenai, readOpenai, readSamples } from './openai.ts';
import { isPromptfoo, readPromptfoo } from './promptfoo.ts';
import { readOwn, type SuiteFile } from './suite-file.ts';
import { isZip, readZip } from './zip.ts';

interface ReadOptions {
  /** A dataset beside the definition of an eval. */
  readonly data: string | null;
  readonly prompt: string | null;
  readonly scorer: string | null;
}

export interface Read {
  readonly format: 'svc' | 'openai' | 'promptfoo' | 'inspect';
  readonly suite: SuiteFile;
  readonly losses: Losses;
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new UsageError(`${file} cannot be read`);
  }
}

/** One JSON value a line. */
function linesOf(text: string, file: string): unknown[] {
  return text.split('\n').flatMap((line, n) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      throw new UsageError(`${file}:${n + 1}: not a line of JSON`);
    }
  });
}

/** The log in an archive: its header, and its samples in the order of their ids. */
function logInArchive(bytes: Buffer): unknown {
  const members = readZip(bytes, (name) => name === 'header.json' || /^samples\/.*\.json$/.test(name));
  const header = members.get('header.json');
  if (header === undefined) throw new UsageError('the archive is no log of Inspect: it has no header.json');
  members.delete('header.json');
  const names = [...members.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const samples = names.map((name) => JSON.parse(String(members.get(name))) as unknown);
  return { ...(JSON.parse(String(header)) as object), samples };
}

/** The value of a file: rows of a dataset are a list. */
function contentOf(file: string): unknown {
  const bytes = bytesOf(file);
  if (isZip(bytes)) return logInArchive(bytes);
  const text = bytes.toString('utf8');
  if (/\.jsonl$/.test(file)) return linesOf(text, file);
  if (/\.csv$/.test(file)) return readCsv(text);
  try {
    // YAML holds JSON, but is many times slower at it.
    return /\.json$/.test(file) ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message.split('\n')[0]}`);
  }
}

function convert(value: unknown, file: string, options: ReadOptions, losses: Losses): Omit<Read, 'losses'> {
  const own = readOwn(value);
  if (own !== null) return { format: 'svc', suite: own };
  if (isOpenai(value)) {
    const rows = options.data === null ? null : (contentOf(options.data) as unknown[]);
    return { format: 'openai', suite: readOpenai(value, { rows, prompt: options.prompt }, losses) };
  }
  if (isPromptfoo(value)) return { format: 'promptfoo', suite: readPromptfoo(value, file, losses) };
  if (isInspectLog(value)) return { format: 'inspect', suite: readInspectLog(value, options.scorer, losses) };
  if (Array.isArray(value)) {
    if (areSamples(value)) return { format: 'openai', suite: readSamples(value, losses) };
    if (areRecords(value)) return { format: 'inspect', suite: readRecords(value, options.scorer, losses) };
    const [first] = value;
    if (isObject(first) && isObject(first['item'])) {
      throw new UsageError(`${file} is a dataset: give the eval that it belongs to, and this as --data`);
    }
  }
  throw new UsageError(`${file} is neither of OpenAI, promptfoo or Inspect nor a suite of svcctl`);
}

/** Whether a case passes the check of stored suites; what does not is lost. */
function withoutFaulty(suite: SuiteFile, losses: Losses): SuiteFile {
  const cases = suite.cases.filter((one) => {
    try {
      checkedCases([one]);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      losses.dropped(one.id ?? '', `a case that is refused here: ${error.message}`);
      return false;
    }
  });
  return { ...suite, cases };
}

/** The suite in a file, and what is lost on the way. @throws UsageError where there is none. */
export function readSuite(file: string, options: ReadOptions): Read {
  if (options.scorer !== null && !scorerNames.includes(options.scorer)) {
    throw new UsageError(`--scorer takes ${scorerNames.join(', ')}`);
  }
  const losses = new Losses();
  const { format, suite } = convert(contentOf(file), file, options, losses);
  const name = suite.name.trim() || basename(file).replace(/\.[^.]*$/, '');
  const named = { ...suite, name: [...name].slice(0, 120).join('') };
  // A suite of our own is refused whole, with the places of its faults, as the API would.
  if (format === 'svc') return { format, suite: named, losses };
  return { format, suite: withoutFaulty(named, losses), losses };
}
