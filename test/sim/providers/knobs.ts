// How a caller chooses what a simulator does: `sim: key=value …` in the last user message, or the same words in the
// header `x-sim` (a gateway between does not forward it). The table of test/sim/README.md explains each.

/** Every knob with its default; `null` = off unless named. All values are whole numbers but those of `textKnobs`. */
export const numberKnobs = {
  // The content of the answer.
  tokens: 16,
  chunks: null,
  reasoning: null,
  tools: null,
  cached: 0,
  written: 0,
  // Its timing.
  slow_headers_ms: 0,
  delay_ms: 0,
  chunk_ms: 0,
  burst: 0,
  split: 0,
  gzip: 0,
  // Refusals.
  status: null,
  retry_after: null,
  html_error: 0,
  fail_first: 0,
  fail_status: 503,
  reset: 0,
  // Broken streams.
  cut_after: null,
  error_after: null,
  stall_after: null,
  garbage_after: null,
  reset_mid: 0,
  // Odd but complete answers.
  no_usage: 0,
  no_done: 0,
  no_finish: 0,
  no_start: 0,
  usage_in_choices: 0,
  over_report: 0,
  over_report_output: 0,
  negative_usage: 0,
  ignore_cap: 0,
  same_id: 0,
  missing_index: 0,
  interleaved_tools: 0,
  refusal: 0,
} as const satisfies Record<string, number | null>;

/** `mark` names the call in the record; `text` is said, its `\n` as line feeds; `finish`, `code`, `model` are said as given. */
export const textKnobs = ['mark', 'text', 'finish', 'code', 'model'] as const;

export type NumberKnob = keyof typeof numberKnobs;
type Numbers = { [K in NumberKnob]: null extends (typeof numberKnobs)[K] ? number | null : number };
export type Knobs = Numbers & { [K in (typeof textKnobs)[number]]: string | null };

const defaults: Knobs = {
  ...(numberKnobs as Numbers),
  mark: null,
  text: null,
  finish: null,
  code: null,
  model: null,
};

const WORDS = /\bsim:((?:\s*[a-z_]+=[^\s,;]+[,;]?)+)/g;
const WORD = /([a-z_]+)=([^\s,;]+)/g;
const MARK = /\bmark=([^\s,;]+)/;

/**
 * The knobs that `text` (the last user message) and `header` set; the header wins. `named` lists what was set.
 * @throws KnobFault on an unknown knob or a value that is no number: a misspelt fault would make a test pass.
 */
export function readKnobs(text: string, header: string | undefined): { knobs: Knobs; named: string } {
  let words = '';
  if (text.includes('sim:')) for (const [, found = ''] of text.matchAll(WORDS)) words += ` ${found}`;
  if (header !== undefined) words += ` ${header}`;
  const mark = text.includes('mark=') ? (MARK.exec(text)?.[1] ?? null) : null;
  if (words === '') return { knobs: mark === null ? defaults : { ...defaults, mark }, named: '' };
  const knobs: Knobs = { ...defaults, mark };
  for (const [, name = '', value = ''] of words.matchAll(WORD)) {
    if ((textKnobs as readonly string[]).includes(name)) {
      knobs[name as (typeof textKnobs)[number]] = name === 'text' ? value.replaceAll('\\n', '\n') : value;
    } else if (Object.hasOwn(numberKnobs, name)) {
      if (!/^\d+$/.test(value)) throw new KnobFault(`knob ${name} takes a whole number, not '${value}'`);
      (knobs as Record<NumberKnob, number | null>)[name as NumberKnob] = Number(value);
    } else throw new KnobFault(`unknown knob '${name}'`);
  }
  return { knobs, named: words.trim().replaceAll(/\s+/g, ' ') };
}

/** A misspelt knob; answered 400 with this message. */
export class KnobFault extends Error {}
