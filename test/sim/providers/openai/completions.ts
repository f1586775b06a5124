// POST /v1/completions as OpenAI and compatible servers answer it: every prompt has `n` choices, all of which say the
// same. Prompts are texts or token ids, which are four bytes each.
import type { Asked, Piece, Said } from '../content.ts';
import type { Knobs } from '../knobs.ts';
import { type Frame, type JsonBody, mark, piece, type Wire, type WireError } from '../wire.ts';
import { openai } from './openai.ts';

type Prompt = string | number[];

/** Members that this path does not have. */
const UNKNOWN = ['svc', 'messages', 'max_completion_tokens', 'metadata', 'store', 'prompt_cache_options'];

function invalid(message: string, param: string): WireError {
  return { status: 400, message, param };
}

function promptsOf({ prompt }: JsonBody): Prompt[] {
  if (!Array.isArray(prompt)) return [prompt as string];
  return typeof prompt[0] === 'number' ? [prompt as number[]] : (prompt as Prompt[]);
}

function isPrompt(value: unknown): boolean {
  const ids = Array.isArray(value) && value.length > 0 && value.every((id) => Number.isInteger(id));
  return typeof value === 'string' || ids;
}

function bytesOf(prompt: Prompt): number {
  return typeof prompt === 'string' ? Buffer.byteLength(prompt) : prompt.length * 4;
}

/** The text that `echo` puts before the answer. */
function textOf(prompt: Prompt): string {
  return typeof prompt === 'string' ? prompt : prompt.map((id) => `<${id}>`).join('');
}

function count(body: JsonBody, name: string): number {
  return (body[name] as number | undefined) ?? 1;
}

export const openaiCompletions: Wire = {
  ...openai,
  path: '/v1/completions',

  check(body) {
    const { best_of, model } = body;
    if (typeof model !== 'string') return invalid('you must provide a model parameter', 'model');
    const unknown = UNKNOWN.find((name) => name in body);
    if (unknown !== undefined) return invalid(`Unrecognized request argument supplied: ${unknown}`, unknown);
    if (promptsOf(body).length === 0 || !promptsOf(body).every(isPrompt))
      return invalid("Invalid type for 'prompt'.", 'prompt');
    if (best_of !== undefined && (best_of as number) < count(body, 'n'))
      return invalid('You requested that the server return more choices than it will generate.', 'best_of');
    if (body['stream'] === true && count(body, 'best_of') > count(body, 'n'))
      return invalid('Results cannot be streamed when best_of is greater than n.', 'best_of');
    const streams = body['stream'] === true || body['stream_options'] === undefined;
    return streams ? null : invalid("The 'stream_options' parameter needs 'stream'.", 'stream_options');
  },

  read(body): Asked {
    const stop = body['stop'] as string | string[] | null | undefined;
    const prompts = promptsOf(body);
    return {
      model: body['model'] as string,
      prompt_text_bytes: prompts.reduce((sum, prompt) => sum + bytesOf(prompt), 0),
      images: 0,
      cap: (body['max_tokens'] as number | undefined) ?? 16,
      stops: typeof stop === 'string' ? [stop] : (stop ?? []),
      ...{
        tools: [],
        tool_choice: null,
        has_results: false,
        results: 0,
        json: false,
        json_schema: undefined,
        reasoning: 0,
      },
      candidates: prompts.length * Math.max(count(body, 'n'), count(body, 'best_of')),
    };
  },

  lastUserText: (body) => textOf(promptsOf(body).at(-1) as Prompt),
  idOf: (said, knobs) => (knobs.same_id === 1 ? 'cmpl-same' : `cmpl-sim${said.id}`),

  whole(body, said, knobs) {
    const choices = choicesOf(body).map(({ index, echoed }) => ({
      text: echoed + said.text.map(({ text }) => text).join(''),
      index,
      logprobs: logprobsOf(
        body,
        [...(echoed === '' ? [] : [echoed]), ...said.text.map(({ text }) => text)],
        0,
      ),
      finish_reason: finishOf(said, knobs),
    }));
    const usage = knobs.no_usage === 1 ? {} : { usage: usageOf(said, knobs) };
    return JSON.stringify({ ...head(said, knobs), choices, ...usage });
  },

  frames,
};

function choicesOf(body: JsonBody): { index: number; echoed: string }[] {
  const n = count(body, 'n');
  return promptsOf(body).flatMap((prompt, at) =>
    Array.from({ length: n }, (_, i) => ({
      index: at * n + i,
      echoed: body['echo'] === true ? textOf(prompt) : '',
    })),
  );
}

function head(said: Said, knobs: Knobs): JsonBody {
  const id = openaiCompletions.idOf(said, knobs);
  return { id, object: 'text_completion', created: Math.floor(Date.now() / 1_000), model: said.model };
}

/** Log probabilities in the form of this path: parallel lists. */
function logprobsOf(body: JsonBody, tokens: readonly string[], offset: number): JsonBody | null {
  if (body['logprobs'] === undefined || body['logprobs'] === null) return null;
  let at = offset;
  const text_offset = tokens.map((token) => {
    at += token.length;
    return at - token.length;
  });
  return {
    tokens,
    token_logprobs: tokens.map(() => -0.5),
    top_logprobs: tokens.map((token) => ({ [token]: -0.5 })),
    text_offset,
  };
}

function finishOf({ stop }: Said, { finish }: Knobs): string {
  return finish ?? (stop === 'length' ? 'length' : 'stop');
}

function usageOf(said: Said, knobs: Knobs): JsonBody {
  const counts = openaiCompletions.reported(said, knobs) as {
    prompt_tokens: number;
    completion_tokens: number;
  };
  return { ...counts, total_tokens: counts.prompt_tokens + counts.completion_tokens };
}

function* frames(body: JsonBody, said: Said, knobs: Knobs): Generator<Frame> {
  const asked = (body['stream_options'] as JsonBody | undefined)?.['include_usage'] === true;
  const start = JSON.stringify(head(said, knobs)).slice(0, -1);
  const end = asked ? ',"usage":null}\n\n' : '}\n\n';
  const chunk = (index: number, text: string, logprobs: JsonBody | null, finish: string | null): string => {
    const choice = JSON.stringify({ text, index, logprobs, finish_reason: finish });
    return `data: ${start},"choices":[${choice}]${end}`;
  };
  const choices = choicesOf(body);
  for (const { index, echoed } of choices) {
    if (echoed !== '') yield mark(chunk(index, echoed, logprobsOf(body, [echoed], 0), null));
  }
  let at = 0;
  for (const { text, tokens } of said.text satisfies Piece[]) {
    for (const { index, echoed } of choices) {
      const logprobs = logprobsOf(body, [text], echoed.length + at);
      yield piece(chunk(index, text, logprobs, null), tokens);
    }
    at += text.length;
  }
  if (knobs.no_finish === 0) {
    for (const { index } of choices) yield mark(chunk(index, '', null, finishOf(said, knobs)));
  }
  if (asked && knobs.no_usage === 0)
    yield mark(`data: ${start},"choices":[],"usage":${JSON.stringify(usageOf(said, knobs))}}\n\n`);
  if (knobs.no_done === 0) yield mark('data: [DONE]\n\n');
}
