// What a caller may ask of the sandbox: members of `svc.provider_options.sandbox`, or words
// `sandbox: key=value key=value` in the last user text.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';

/** Every option with the largest value it takes; all are whole numbers from 0. Flags take 0 or 1. */
export const optionBounds = {
  /** Repeat the words of the text until it has exactly this many tokens. */
  tokens: 1_000_000,
  /** Words of lorem. */
  words: 200_000,
  /** Pieces that text, reasoning and arguments are streamed in. */
  chunks: 100_000,
  /** Milliseconds between pieces. */
  chunk_ms: 60_000,
  /** Milliseconds before the first piece. */
  ttft_ms: 600_000,
  /** Milliseconds from the first piece to the last; overrides `chunk_ms`. */
  duration_ms: 3_600_000,
  /** `long`: length in seconds and tokens per second. */
  seconds: 3_600,
  tps: 10_000,
  /** `tools`: number of calls. */
  parallel: 64,
  /** `tools`: 1 = a sentence of text before the calls. */
  preamble: 1,
  /** `reasoning`: size of the reasoning, and the form of its state. */
  reasoning_tokens: 1_000_000,
  redacted: 1,
  encrypted: 1,
  /** `error-flaky`: attempts that fail. */
  fail: 100,
  /** Pieces before the fault of error-mid, cut, stall, garbage, filter-mid. */
  after: 100_000,
  /** Status of error-flaky and of the event of error-mid. */
  status: 599,
} as const;

type SandboxOptionName = keyof typeof optionBounds;
export type SandboxOptions = { readonly [K in SandboxOptionName]?: number };

function isOptionName(name: string): name is SandboxOptionName {
  return Object.hasOwn(optionBounds, name);
}

/** A fault of the explicit options, or the options. */
type OptionsRead = { ok: true; options: SandboxOptions } | { ok: false; message: string };

/**
 * Explicit options before words. An explicit option that is unknown or out of its range is a fault (the caller
 * meant something); words are prose, so unknown ones are left alone and large numbers are lowered to the bound.
 */
export function readOptions(explicit: JsonObject, lastUserText: string): OptionsRead {
  const options: { [K in SandboxOptionName]?: number } = optionsInText(lastUserText);
  for (const [name, raw] of Object.entries(explicit)) {
    if (!isOptionName(name)) {
      const known = Object.keys(optionBounds).join(', ');
      return { ok: false, message: `Unknown sandbox option '${name}'. Known options: ${known}.` };
    }
    const value = typeof raw === 'boolean' ? Number(raw) : raw;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > optionBounds[name]) {
      return {
        ok: false,
        message: `Sandbox option '${name}' must be an integer from 0 to ${optionBounds[name]}.`,
      };
    }
    options[name] = value;
  }
  return { ok: true, options };
}

const WORDS = /sandbox:((?:[ \t]*\b[a-z_]+=\d{1,9}\b[,;]?)+)/g;
const WORD = /([a-z_]+)=(\d+)/g;

/** The options that `text` names; a later word wins over an earlier one. */
export function optionsInText(text: string): { [K in SandboxOptionName]?: number } {
  const options: { [K in SandboxOptionName]?: number } = {};
  if (!text.includes('sandbox:')) return options;
  for (const [, words = ''] of text.matchAll(WORDS)) {
    for (const [, name = '', digits = ''] of words.matchAll(WORD)) {
      if (isOptionName(name)) options[name] = Math.min(Number(digits), optionBounds[name]);
    }
  }
  return options;
}

/** `value` as options object; anything but an object is none. */
export function optionsObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
