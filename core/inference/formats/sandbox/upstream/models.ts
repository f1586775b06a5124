// What each sandbox model answers: a pure function from a call to a draft (before the output cap and the stop
// sequences) or to a refusal. The README beside has the table.
import { sha256Hex } from '../../../../kernel/index.ts';
import type { FaultClass, Part, Stop, Tool, ToolCallPart } from '../../../canonical/types.ts';
import { classOf, errorWords, type Refusal, refusal } from './faults.ts';
import type { SandboxOptions } from './options.ts';
import { lastToolResults, type SandboxBody, textOf } from './request.ts';
import { smallestInstance } from './schema-instance.ts';
import { changedReasoning, opaqueState } from './signature.ts';
import { loremWords, repeatedTo } from './text.ts';
import { cutToTokens, tokensOf } from './tokens.ts';

/** A call as a model sees it. */
export interface View {
  readonly body: SandboxBody;
  readonly options: SandboxOptions;
  /** 64 hexadecimal digits; equal for equal requests. */
  readonly seed: string;
  readonly user_text: string;
  readonly prompt_tokens: number;
  /** From 1. */
  readonly attempt: number;
}

export interface DraftPart {
  content: Part;
  /** Tokens billed for reasoning that the part does not show. */
  hidden_tokens?: number;
}

/** How a stream ends. `after` counts pieces. */
export type Ending =
  | { kind: 'complete' | 'no_usage' | 'empty' }
  | { kind: 'filter' | 'cut' | 'stall' | 'garbage'; after: number }
  | { kind: 'error'; after: number; status: number; inner: FaultClass };

export interface Draft {
  /** By candidate. */
  candidates: DraftPart[][];
  stop: Stop;
  ending: Ending;
  ttft_ms: number;
  /** Milliseconds before each piece but the first of all. */
  gap_ms: number;
  /** UTF-16 units of a piece; null = by `options.chunks` or words. */
  piece_length: number | null;
  /** Tokens that fit in prompt and output together. */
  context: number | null;
}

type Model = (view: View) => Draft | Refusal;

const AFTER_DEFAULT = 5;
const CONTEXT_LENGTH = 1_000;

/** The draft or refusal of `model` (with or without `sandbox/`); any model that is not ours echoes. */
export function answer(model: string, view: View): Draft | Refusal {
  const name = model.startsWith('sandbox/') ? model.slice(8) : model;
  const own = Object.hasOwn(models, name) ? models[name] : undefined;
  if (own !== undefined) return own(view);
  if (name.startsWith('error-') && errorWords[Number(name.slice(6))] !== undefined) {
    return refusal(Number(name.slice(6)));
  }
  return standIn(view);
}

const models: Readonly<Record<string, Model>> = {
  echo,
  lorem: (view) => withParts(view, (candidate) => [text(lorem(view, view.options.words ?? 200, candidate))]),
  json,
  tools,
  reasoning,
  vision: (view) => withParts(view, () => [text(mediaReport(view.body))]),
  cache: echo,
  refusal: (view) => ({
    ...withParts(view, () => [{ content: { type: 'refusal', text: 'I cannot help with that.' } }]),
    stop: { reason: 'refusal', raw: 'refusal' },
  }),
  filter: () =>
    refusal(400, { code: 'content_filter', message: 'The prompt was blocked by the content filter.' }),
  'filter-mid': (view) => ending(view, { kind: 'filter', after: view.options.after ?? AFTER_DEFAULT }),
  'error-flaky': (view) =>
    view.attempt <= (view.options.fail ?? 1) ? refusal(faultStatus(view, 503)) : echo(view),
  'error-mid': (view) => {
    const status = faultStatus(view, 500);
    const after = view.options.after ?? AFTER_DEFAULT;
    return ending(view, { kind: 'error', after, status, inner: classOf(status, undefined) });
  },
  cut: (view) => ending(view, { kind: 'cut', after: view.options.after ?? AFTER_DEFAULT }),
  stall: (view) => ending(view, { kind: 'stall', after: view.options.after ?? AFTER_DEFAULT }),
  garbage: (view) => ending(view, { kind: 'garbage', after: view.options.after ?? AFTER_DEFAULT }),
  'no-usage': (view) => ({ ...echo(view), ending: { kind: 'no_usage' } }),
  zero: (view) => ({ ...withParts(view, () => []), ending: { kind: 'empty' } }),
  slow: (view) => ({
    ...echo(view),
    ttft_ms: view.options.ttft_ms ?? 2_000,
    gap_ms: view.options.chunk_ms ?? 50,
  }),
  long,
  context,
};

/** Names of the models with a behaviour of their own, without `sandbox/`. */
export const modelNames: readonly string[] = [
  ...Object.keys(models),
  ...Object.keys(errorWords).map((status) => `error-${status}`),
];

function text(value: string): DraftPart {
  return { content: { type: 'text', text: value } };
}

function withParts(view: View, parts: (candidate: number) => DraftPart[]): Draft {
  const count = Math.min(view.body.generation.candidates ?? 1, 8);
  return {
    candidates: Array.from({ length: count }, (_, candidate) => parts(candidate)),
    stop: { reason: 'end_turn', raw: 'stop' },
    ending: { kind: 'complete' },
    ttft_ms: view.options.ttft_ms ?? 0,
    gap_ms: view.options.chunk_ms ?? 0,
    piece_length: null,
    context: null,
  };
}

function echo(view: View): Draft {
  const { tokens } = view.options;
  return withParts(view, () => [
    text(tokens === undefined ? view.user_text : repeated(view, view.user_text, tokens)),
  ]);
}

// The cap comes later, but no text is built much longer than it.
function repeated(view: View, unit: string, tokens: number): string {
  return repeatedTo(unit, Math.min(tokens, view.body.max_tokens + 1));
}

function lorem(view: View, words: number, candidate: number): string {
  const from = Number.parseInt(view.seed.slice(0, 6), 16) + candidate * 7;
  const { tokens } = view.options;
  if (tokens !== undefined) return repeated(view, loremWords(200, from), tokens);
  // A word is at least one token once its space is counted.
  return loremWords(Math.min(words, view.body.max_tokens * 3 + 1), from);
}

/** Lorem with a fault or filter in the middle. */
function ending(view: View, end: Ending): Draft {
  return { ...withParts(view, (candidate) => [text(lorem(view, 40, candidate))]), ending: end };
}

function faultStatus(view: View, otherwise: number): number {
  const { status } = view.options;
  return status !== undefined && status >= 400 ? status : otherwise;
}

/** Whether the caller wants a call now: many libraries get JSON through a tool that the model must call. */
function mustCall({ tool_choice: choice, messages }: SandboxBody): boolean {
  const forced = choice !== undefined && (choice.type === 'required' || choice.type === 'tool');
  return forced && lastToolResults(messages) === null;
}

function json(view: View): Draft {
  const format = view.body.output?.format;
  if (format === undefined && mustCall(view.body)) return tools(view);
  return withParts(view, () => [text(JSON.stringify(format?.schema ? smallestInstance(format.schema) : {}))]);
}

/** A model of the real catalog, called with a test key: does what the call demands, otherwise echoes. */
function standIn(view: View): Draft {
  if (mustCall(view.body)) return tools(view);
  const format = view.body.output?.format;
  return format !== undefined && format.type !== 'text' ? json(view) : echo(view);
}

function tools(view: View): Draft {
  const { body, options } = view;
  const results = lastToolResults(body.messages);
  if (results !== null) return withParts(view, () => [text(results.join('\n'))]);
  const callable = callableTools(body);
  if (callable.length === 0) return echo(view);
  const count = body.parallel_tools === false ? 1 : Math.max(1, options.parallel ?? 1);
  return {
    ...withParts(view, (candidate) => [
      ...(options.preamble === 1 ? [text('I will look that up.')] : []),
      ...Array.from({ length: count }, (_, n) => ({
        content: toolCall(view, callable[n % callable.length] as Tool, `${candidate}${n}`),
      })),
    ]),
    stop: { reason: 'tool_use', raw: 'tool_calls' },
  };
}

function callableTools(body: SandboxBody): Tool[] {
  const choice = body.tool_choice;
  const own = (body.tools ?? []).filter(({ kind }) => kind !== 'server');
  if (choice === undefined) return own;
  if (choice.type === 'tool') return own.filter(({ name }) => name === choice.name);
  if (choice.type === 'none') return [];
  return choice.names === undefined ? own : own.filter(({ name }) => choice.names?.includes(name));
}

function toolCall(view: View, tool: Tool, suffix: string): ToolCallPart {
  const custom = tool.kind === 'custom';
  return {
    type: 'tool_call',
    id: `call_${view.seed.slice(0, 16)}_${suffix}`,
    name: tool.name,
    arguments: custom ? view.user_text : JSON.stringify(smallestInstance(tool.schema ?? { type: 'object' })),
    kind: custom ? 'custom' : 'function',
  };
}

function reasoning(view: View): Draft | Refusal {
  const { body, options } = view;
  const changed = changedReasoning(body.messages);
  if (changed !== null) {
    const message = 'Reasoning was sent back changed: its signature does not fit its text.';
    return refusal(400, { code: 'invalid_signature', message, param: changed });
  }
  const off = body.reasoning?.mode === 'off' || body.reasoning?.effort === 'none';
  return withParts(view, () => [...(off ? [] : thought(view)), text(echoText(view, options.tokens))]);
}

function echoText(view: View, tokens: number | undefined): string {
  return tokens === undefined ? view.user_text : repeated(view, view.user_text, tokens);
}

function thought(view: View): DraftPart[] {
  const { body, options, seed } = view;
  const start = `The user wrote ${view.user_text.length} characters. I shall answer with the same words.`;
  const wanted = options.reasoning_tokens;
  const long = wanted === undefined ? start : repeated(view, start, wanted);
  const words = cutToTokens(long, body.reasoning?.max_tokens ?? body.max_tokens);
  const state = opaqueState(seed.slice(0, 32));
  if (options.redacted === 1 || body.reasoning?.display === 'omitted') {
    const content: Part = { type: 'reasoning', text: '', kind: 'encrypted', data: state, format: 'unknown' };
    return [{ content, hidden_tokens: tokensOf(words) }];
  }
  if (options.encrypted === 1) {
    const id = `rs_${seed.slice(0, 16)}`;
    return [
      { content: { type: 'reasoning', text: words, kind: 'summary', id, format: 'unknown' } },
      { content: { type: 'reasoning', text: '', kind: 'encrypted', data: state, id, format: 'unknown' } },
    ];
  }
  // The signature is added after the cap was applied, because it signs the text that is sent.
  return [{ content: { type: 'reasoning', text: words, kind: 'full', signature: '', format: 'unknown' } }];
}

function mediaReport(body: SandboxBody): string {
  const parts = body.messages.findLast(({ role }) => role === 'user')?.content ?? [];
  const lines: string[] = [];
  for (const part of parts) {
    if (!('src' in part)) continue;
    const { src } = part;
    if ('url' in src) lines.push(`${part.type} ${src.media_type ?? 'unknown type'} url ${src.url}`);
    else if ('file_id' in src) lines.push(`${part.type} file ${src.file_id}`);
    else {
      const bytes = 'text' in src ? Buffer.from(src.text) : Buffer.from(src.base64, 'base64');
      const type = 'text' in src ? 'text/plain' : src.media_type;
      lines.push(`${part.type} ${type} ${bytes.length} bytes sha256:${sha256Hex(bytes)}`);
    }
  }
  return lines.length > 0 ? lines.join('\n') : `no media; text: ${textOf(parts)}`;
}

function long(view: View): Draft {
  const { seconds = 60, tps = 50 } = view.options;
  const rate = Math.max(1, tps);
  // At most 100 pieces a second; 'la ' is one token.
  const per_piece = Math.ceil(rate / 100);
  const tokens = Math.min(seconds * rate, view.body.max_tokens + 1);
  return {
    ...withParts(view, () => [text('la '.repeat(tokens))]),
    gap_ms: (per_piece * 1_000) / rate,
    piece_length: per_piece * 3,
  };
}

function context(view: View): Draft | Refusal {
  if (view.prompt_tokens > CONTEXT_LENGTH) {
    const message =
      `This model's maximum context length is ${CONTEXT_LENGTH} tokens. ` +
      `However, your messages resulted in ${view.prompt_tokens} tokens.`;
    return refusal(400, { code: 'context_length_exceeded', message, param: 'messages' });
  }
  return { ...echo(view), context: CONTEXT_LENGTH };
}
