// POST /v1beta/models/{model}:generateContent and :streamGenerateContent?alt=sse as the Gemini API answers them: CRLF,
// counts on every chunk, calls whole, no end mark.
import { type Asked, type Piece, type Said, signThought, textBytes } from '../content.ts';
import type { Knobs } from '../knobs.ts';
import { type Frame, type JsonBody, mark, piece, type Wire, type WireError } from '../wire.ts';
import { checkGemini } from './gemini-check.ts';

type JsonList = JsonBody[];

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const words: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
const messages: Record<string, string> = {
  context_length_exceeded:
    'The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).',
};
/** A finish that begins with this stands for a prompt that is refused. */
const BLOCKED = 'BLOCK_';

export const gemini: Wire = {
  family: 'gemini',
  path: '/v1beta/models',

  membersOf(url) {
    const match = PATH.exec(url.pathname);
    if (match === null) return null;
    const stream = match[2] === 'streamGenerateContent';
    if (stream && url.searchParams.get('alt') !== 'sse') return null;
    return { model: decodeURIComponent(match[1] as string), stream };
  },

  keyOf(headers) {
    const key = headers['x-goog-api-key'];
    return typeof key === 'string' ? key : null;
  },

  check: checkGemini,

  read(body): Asked {
    const config = configOf(body);
    const contents = body['contents'] as JsonList;
    const tools = ((body['tools'] as JsonList | undefined) ?? []).flatMap(
      (tool) => (tool['functionDeclarations'] as JsonList | undefined) ?? [],
    );
    const thinking = config['thinkingConfig'] as JsonBody | undefined;
    const last = contents.at(-1) as JsonBody;
    return {
      model: body['model'] as string,
      prompt_text_bytes: textBytes(contents) + textBytes(body['systemInstruction']) + textBytes(tools),
      images: contents.flatMap(partsOf).filter((part) => part['inlineData'] !== undefined).length,
      cap: (config['maxOutputTokens'] ?? null) as number | null,
      stops: (config['stopSequences'] ?? []) as string[],
      tools: tools.map((tool) => ({ name: tool['name'] as string, schema: tool['parametersJsonSchema'] })),
      tool_choice: choiceOf(body),
      has_results: partsOf(last).some((part) => part['functionResponse'] !== undefined),
      results: contents.flatMap(partsOf).filter((part) => part['functionResponse'] !== undefined).length,
      json: config['responseMimeType'] === 'application/json',
      json_schema: config['responseJsonSchema'],
      reasoning: thinking?.['includeThoughts'] === true && thinking['thinkingBudget'] !== 0 ? 8 : 0,
      candidates: (config['candidateCount'] ?? 1) as number,
    };
  },

  lastUserText(body) {
    const content = (body['contents'] as JsonList).findLast(({ role }) => role !== 'model');
    return partsOf(content ?? {})
      .map(({ text }) => (typeof text === 'string' ? text : ''))
      .join('\n');
  },

  idOf: (said, knobs) => (knobs.same_id === 1 ? 'resp-same' : `resp-sim${said.id}`),

  reported(said, knobs) {
    if (knobs.no_usage === 1) return null;
    return {
      prompt_tokens: said.prompt_tokens + knobs.over_report,
      completion_tokens: said.completion_tokens + knobs.over_report_output,
    };
  },

  whole(body, said, knobs) {
    if (isBlocked(knobs)) return JSON.stringify(blocked(said, knobs));
    const thought = joined(said.reasoning);
    const parts = [
      ...(thought === '' ? [] : [{ text: thought, thought: true }]),
      ...(said.text.length === 0 ? [] : [{ text: joined(said.text), ...textSignature(said) }]),
      ...said.tools.map((_, i) => callPart(said, i)),
    ];
    const candidates = Array.from({ length: gemini.read(body).candidates }, (_, index) => ({
      content: { parts, role: 'model' },
      finishReason: finishOf(said, knobs),
      index,
    }));
    return JSON.stringify({ candidates, ...tail(said, knobs, said.completion_tokens) }, null, 2);
  },

  frames,
  error: (error) => JSON.stringify({ error: errorBody(error) }, null, 2),
  errorFrame: () => event({ error: errorBody({ status: 503, message: 'The model is overloaded.' }) }),
  headers: () => ({ 'server-timing': 'gfet4t7; dur=12' }),
};

function* frames(body: JsonBody, said: Said, knobs: Knobs): Generator<Frame> {
  if (isBlocked(knobs)) return yield mark(event(blocked(said, knobs)));
  let spoken = 0;
  const { candidates } = gemini.read(body);
  const chunk = (parts: JsonList, index: number, more: JsonBody = {}) =>
    event({
      candidates: [{ content: { parts, role: 'model' }, ...more, index }],
      ...tail(said, knobs, spoken),
    });
  for (let index = 0; index < candidates; index++) {
    const pieces = [
      ...said.reasoning.map((each) => ({ ...each, part: { text: each.text, thought: true } as JsonBody })),
      ...said.text.map((each) => ({ ...each, part: { text: each.text } as JsonBody })),
      ...said.tools.map(({ pieces }, i) => ({ tokens: tokensOf(pieces), part: callPart(said, i) })),
    ];
    for (const { part, tokens } of pieces) {
      spoken += tokens;
      yield piece(chunk([part], index), tokens);
    }
    if (knobs.no_finish === 1) continue;
    const signature = said.text.length === 0 ? {} : textSignature(said);
    yield mark(chunk([{ text: '', ...signature }], index, { finishReason: finishOf(said, knobs) }));
  }
}

function event(value: JsonBody): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

function configOf(body: JsonBody): JsonBody {
  return (body['generationConfig'] as JsonBody | undefined) ?? {};
}

export function partsOf(content: JsonBody): JsonList {
  return (content['parts'] as JsonList | undefined) ?? [];
}

function choiceOf(body: JsonBody): Asked['tool_choice'] {
  const config = (body['toolConfig'] as JsonBody | undefined)?.['functionCallingConfig'] as
    | JsonBody
    | undefined;
  if (config?.['mode'] === 'NONE') return 'none';
  if (config?.['mode'] !== 'ANY') return null;
  const [name] = (config['allowedFunctionNames'] as string[] | undefined) ?? [];
  return name === undefined ? 'required' : { name };
}

/** Signature of a call; only the first of a turn has one. */
export function signCall(name: unknown, args: unknown): string {
  return signThought(`${String(name)} ${JSON.stringify(args)}`);
}

function callPart(said: Said, i: number): JsonBody {
  const { name, pieces } = said.tools[i] as Said['tools'][number];
  const args = JSON.parse(joined(pieces)) as unknown;
  // Gemini gives calls no id.
  return { functionCall: { name, args }, ...(i === 0 && { thoughtSignature: signCall(name, args) }) };
}

function textSignature(said: Said): JsonBody {
  return said.reasoning.length === 0 ? {} : { thoughtSignature: signThought(joined(said.text)) };
}

function tail(said: Said, knobs: Knobs, spoken: number): JsonBody {
  const thoughts = Math.min(said.reasoning_tokens, spoken);
  const output = knobs.negative_usage === 1 ? -5 : spoken - thoughts + knobs.over_report_output;
  const prompt = said.prompt_tokens + knobs.over_report;
  const usageMetadata = {
    promptTokenCount: prompt,
    // Counts of 0 are left out.
    ...(output !== 0 && { candidatesTokenCount: output }),
    totalTokenCount: prompt + output + thoughts,
    ...(said.cached > 0 && { cachedContentTokenCount: said.cached }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    serviceTier: 'standard',
  };
  return {
    ...(knobs.no_usage === 0 && { usageMetadata }),
    modelVersion: said.model,
    responseId: gemini.idOf(said, knobs),
  };
}

function isBlocked(knobs: Knobs): boolean {
  return knobs.finish?.startsWith(BLOCKED) === true;
}

function blocked(said: Said, knobs: Knobs): JsonBody {
  const blockReason = (knobs.finish as string).slice(BLOCKED.length);
  return { promptFeedback: { blockReason }, ...tail(said, knobs, 0) };
}

function finishOf(said: Said, knobs: Knobs): string {
  if (knobs.finish !== null) return knobs.finish;
  return said.stop === 'length' ? 'MAX_TOKENS' : 'STOP';
}

function errorBody({ status, message, code }: WireError): JsonBody {
  const text = code === undefined ? message : (messages[code] ?? message);
  return { code: status, message: text, status: words[status] ?? 'UNKNOWN' };
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}

function tokensOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0);
}
