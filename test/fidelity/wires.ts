// Answers as the families' own wires give them, streamed and whole, from one list of pieces.
import { jsonEvent } from '../sim/providers/bedrock/event-stream.ts';
import type { GenerationFamily, Json } from './types.ts';

export type Piece =
  | { readonly reasoning: string; readonly signature?: string }
  | { readonly text: string; readonly cites?: string; readonly quotes?: string; readonly logprob?: number }
  | { readonly refusal: string }
  | { readonly image: string }
  | { readonly call: string; readonly arguments: string; readonly signature?: string };

export interface Said {
  readonly pieces: readonly Piece[];
  /** The family's own word; of responses status or `incomplete/reason`. */
  readonly stop: string;
  readonly usage: Json;
}

export interface Wire {
  readonly stream: Buffer;
  readonly whole: Buffer;
}

export const MODEL = 'upstream-1';
export const CITED = 'https://a.example/1';

function sse(events: readonly Json[], named: boolean, end = ''): Buffer {
  const texts = events.map(
    (event) => `${named ? `event: ${String(event['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
  );
  return Buffer.from(texts.join('') + end);
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** `text` in two halves, as a stream brings it. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}

function span(text: string) {
  return { start_index: 0, end_index: text.length, url: CITED, title: 'A' };
}

function logprobOf(token: string, logprob: number) {
  return { token, logprob, bytes: null, top_logprobs: [] };
}

function chat({ pieces, stop, usage }: Said): Wire {
  const deltas: Json[] = [];
  const message: Json = { role: 'assistant', content: null, refusal: null };
  const calls: Json[] = [];
  let logprobs: Json | null = null;
  for (const piece of pieces) {
    if ('reasoning' in piece) {
      message['reasoning_content'] = piece.reasoning;
      deltas.push(...halves(piece.reasoning).map((half) => ({ delta: { reasoning_content: half } })));
    } else if ('refusal' in piece) {
      message['refusal'] = piece.refusal;
      deltas.push(...halves(piece.refusal).map((refusal) => ({ delta: { refusal } })));
    } else if ('image' in piece) {
      const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${piece.image}` } }];
      message['images'] = images;
      deltas.push({ delta: { images } });
    } else if ('text' in piece) {
      message['content'] = piece.text;
      if (piece.logprob !== undefined) {
        logprobs = { content: [logprobOf(piece.text, piece.logprob)], refusal: null };
        deltas.push({ delta: { content: piece.text }, logprobs });
      } else deltas.push(...halves(piece.text).map((content) => ({ delta: { content } })));
      if (piece.cites !== undefined) {
        const annotations = [{ type: 'url_citation', url_citation: span(piece.text) }];
        message['annotations'] = annotations;
        deltas.push({ delta: { annotations } });
      }
    } else {
      const id = `call_${calls.length + 1}`;
      const index = calls.length;
      calls.push({ id, type: 'function', function: { name: piece.call, arguments: piece.arguments } });
      const start = { index, id, type: 'function', function: { name: piece.call, arguments: '' } };
      deltas.push({ delta: { tool_calls: [start] } });
      for (const half of halves(piece.arguments)) {
        deltas.push({ delta: { tool_calls: [{ index, function: { arguments: half } }] } });
      }
    }
  }
  if (calls.length > 0) message['tool_calls'] = calls;
  const head = { id: 'chatcmpl-1', created: 1_763_740_800, model: MODEL };
  const chunk = (choices: Json[], more: Json = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  });
  const choice = (more: Json) => [{ index: 0, logprobs: null, finish_reason: null, ...more }];
  const events = [
    chunk(choice({ delta: { role: 'assistant', content: '' } })),
    ...deltas.map((delta) => chunk(choice(delta))),
    chunk(choice({ delta: {}, finish_reason: stop })),
    chunk([], { usage }),
  ];
  const whole = {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs, finish_reason: stop }],
    usage,
  };
  return { stream: sse(events, false, 'data: [DONE]\n\n'), whole: json(whole) };
}

/** Pictures are made by tools here, whose items only the raw lane carries. */
/** What a piece says as text; '' of one that is no text. */
function textOf(piece: Piece): string {
  if ('refusal' in piece) return piece.refusal;
  return 'text' in piece ? piece.text : '';
}

type ItemPiece = Exclude<Piece, { readonly image: string }>;

function itemOf(piece: ItemPiece, n: number): Json {
  if ('reasoning' in piece) {
    const summary = [{ type: 'summary_text', text: piece.reasoning }];
    return { id: `rs_${n}`, type: 'reasoning', summary, encrypted_content: piece.signature ?? null };
  }
  if ('call' in piece) {
    const call = { call_id: `call_${n}`, name: piece.call, arguments: piece.arguments };
    return { id: `fc_${n}`, type: 'function_call', status: 'completed', ...call };
  }
  const message = { id: `msg_${n}`, type: 'message', status: 'completed', role: 'assistant' };
  if ('refusal' in piece) return { ...message, content: [{ type: 'refusal', refusal: piece.refusal }] };
  const annotations = piece.cites === undefined ? [] : [{ type: 'url_citation', ...span(piece.text) }];
  const logprobs = piece.logprob === undefined ? [] : [logprobOf(piece.text, piece.logprob)];
  return { ...message, content: [{ type: 'output_text', text: piece.text, annotations, logprobs }] };
}

function itemEvents(piece: ItemPiece, n: number): Json[] {
  const item = itemOf(piece, n);
  const at = { output_index: n, item_id: item['id'] };
  const inside = { ...at, content_index: 0 };
  const events: Json[] = [];
  const added: Json = { ...item };
  const say = (type: string, more: Json) => events.push({ type: `response.${type}`, ...more });
  if ('reasoning' in piece) {
    added['summary'] = [];
    const part = { ...at, summary_index: 0 };
    say('reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
    for (const delta of halves(piece.reasoning)) say('reasoning_summary_text.delta', { ...part, delta });
    say('reasoning_summary_text.done', { ...part, text: piece.reasoning });
    say('reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text: piece.reasoning } });
  } else if ('call' in piece) {
    added['arguments'] = '';
    for (const delta of halves(piece.arguments)) say('function_call_arguments.delta', { ...at, delta });
    say('function_call_arguments.done', { ...at, name: piece.call, arguments: piece.arguments });
  } else {
    added['content'] = [];
    const part = (item['content'] as Json[])[0] as Json;
    const [kind, text] = 'refusal' in piece ? ['refusal', piece.refusal] : ['output_text', piece.text];
    say('content_part.added', {
      ...inside,
      part:
        kind === 'refusal'
          ? { type: kind, refusal: '' }
          : { ...part, text: '', annotations: [], logprobs: [] },
    });
    for (const delta of 'logprob' in piece ? [text] : halves(text)) {
      const logprobs = kind === 'refusal' ? {} : { logprobs: part['logprobs'] };
      say(`${kind}.delta`, { ...inside, delta, ...logprobs });
    }
    for (const annotation of (part['annotations'] ?? []) as Json[]) {
      say('output_text.annotation.added', { ...inside, annotation_index: 0, annotation });
    }
    const whole = kind === 'refusal' ? { refusal: text } : { text, logprobs: part['logprobs'] };
    say(`${kind}.done`, { ...inside, ...whole });
    say('content_part.done', { ...inside, part });
  }
  const ends = { output_index: n };
  return [
    { type: 'response.output_item.added', ...ends, item: added },
    ...events,
    { type: 'response.output_item.done', ...ends, item },
  ];
}

function responses({ pieces: all, stop, usage }: Said): Wire {
  const pieces = all.filter((piece): piece is ItemPiece => !('image' in piece));
  const [status = 'completed', reason] = stop.split('/');
  const head = { id: 'resp_1', object: 'response', created_at: 1_763_740_800, model: MODEL };
  const begun = { ...head, status: 'in_progress', output: [], usage: null };
  const response = {
    ...head,
    status,
    completed_at: status === 'completed' ? 1_763_740_802 : null,
    incomplete_details: reason === undefined ? null : { reason },
    output: pieces.map(itemOf),
    usage,
  };
  const events: Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...pieces.flatMap(itemEvents),
    { type: `response.${status}`, response },
  ];
  return {
    stream: sse(
      events.map((event, sequence_number) => ({ ...event, sequence_number })),
      true,
    ),
    whole: json(response),
  };
}

function pageOf(text: string): Json {
  const at = { cited_text: text, url: CITED, title: 'A', encrypted_index: 'b3BhcXVl' };
  return { type: 'web_search_result_location', ...at };
}

function quoteOf(text: string): Json {
  const span = { document_index: 0, document_title: 'Doc', start_char_index: 0, end_char_index: text.length };
  return { type: 'char_location', cited_text: text, ...span };
}

function anthropic({ pieces, stop, usage }: Said): Wire {
  const content: Json[] = [];
  const events: Json[] = [];
  pieces.forEach((piece, index) => {
    const deltas: Json[] = [];
    let block: Json;
    let start: Json;
    if ('reasoning' in piece) {
      const { reasoning: thinking, signature = '' } = piece;
      block = { type: 'thinking', thinking, signature };
      start = { type: 'thinking', thinking: '', signature: '' };
      deltas.push(...halves(thinking).map((half) => ({ type: 'thinking_delta', thinking: half })));
      deltas.push({ type: 'signature_delta', signature });
    } else if ('call' in piece) {
      const head = { type: 'tool_use', id: `toolu_${index}`, name: piece.call };
      block = { ...head, input: JSON.parse(piece.arguments) };
      start = { ...head, input: {} };
      deltas.push(
        ...halves(piece.arguments).map((half) => ({ type: 'input_json_delta', partial_json: half })),
      );
    } else {
      const text = textOf(piece);
      const cited = 'cites' in piece || 'quotes' in piece;
      const citation = 'quotes' in piece ? quoteOf(piece.quotes ?? '') : pageOf(text);
      block = { type: 'text', text, citations: cited ? [citation] : null };
      start = { type: 'text', text: '', citations: cited ? [] : null };
      deltas.push(...halves(text).map((half) => ({ type: 'text_delta', text: half })));
      if (cited) deltas.push({ type: 'citations_delta', citation });
    }
    content.push(block);
    events.push({ type: 'content_block_start', index, content_block: start });
    events.push(...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })));
    events.push({ type: 'content_block_stop', index });
  });
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL };
  const stop_sequence = stop === 'stop_sequence' ? 'END' : null;
  const first = { ...usage, output_tokens: 1 };
  const open = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: first };
  return {
    stream: sse(
      [
        { type: 'message_start', message: open },
        ...events,
        { type: 'message_delta', delta: { stop_reason: stop, stop_sequence }, usage },
        { type: 'message_stop' },
      ],
      true,
    ),
    whole: json({ ...head, content, stop_reason: stop, stop_sequence, usage }),
  };
}

function gemini({ pieces, stop, usage }: Said): Wire {
  const parts: Json[] = [];
  const chunks: Json[] = [];
  const last: Json = {};
  const more = { modelVersion: MODEL, responseId: 'r1' };
  for (const piece of pieces) {
    if ('image' in piece) {
      const part = { inlineData: { mimeType: 'image/png', data: piece.image } };
      parts.push(part);
      chunks.push(part);
    } else if ('reasoning' in piece) {
      parts.push({ text: piece.reasoning, thought: true });
      for (const half of halves(piece.reasoning)) chunks.push({ text: half, thought: true });
    } else if ('call' in piece) {
      const functionCall = { name: piece.call, args: JSON.parse(piece.arguments) };
      const signed = piece.signature === undefined ? {} : { thoughtSignature: piece.signature };
      parts.push({ functionCall, ...signed });
      chunks.push({ functionCall, ...signed });
    } else if ('text' in piece) {
      parts.push({ text: piece.text });
      for (const half of 'logprob' in piece ? [piece.text] : halves(piece.text)) chunks.push({ text: half });
      if (piece.logprob !== undefined) {
        last['logprobsResult'] = { chosenCandidates: [{ token: piece.text, logProbability: piece.logprob }] };
      }
      if (piece.cites !== undefined) {
        const segment = { endIndex: Buffer.byteLength(piece.text), text: piece.text };
        last['groundingMetadata'] = {
          groundingChunks: [{ web: { uri: CITED, title: 'A' } }],
          groundingSupports: [{ segment, groundingChunkIndices: [0] }],
        };
      }
    }
  }
  const candidate = (list: Json[], extra: Json = {}) => ({
    candidates: [{ content: { role: 'model', parts: list }, index: 0, ...extra }],
    usageMetadata: usage,
    ...more,
  });
  const { logprobsResult, ...atEnd } = last;
  const beside = logprobsResult === undefined ? {} : { logprobsResult };
  const events = chunks.map((chunk) => candidate([chunk], beside));
  return {
    stream: sse([...events, candidate([{ text: '' }], { finishReason: stop, ...atEnd })], false),
    whole: json(candidate(parts, { finishReason: stop, ...last })),
  };
}

function bedrock({ pieces, stop, usage }: Said): Wire {
  const content: Json[] = [];
  const events: Buffer[] = [jsonEvent('messageStart', { role: 'assistant' })];
  pieces.forEach((piece, contentBlockIndex) => {
    const say = (delta: Json) => events.push(jsonEvent('contentBlockDelta', { contentBlockIndex, delta }));
    if ('reasoning' in piece) {
      const { reasoning: text, signature = '' } = piece;
      content.push({ reasoningContent: { reasoningText: { text, signature } } });
      for (const half of halves(text)) say({ reasoningContent: { text: half } });
      say({ reasoningContent: { signature } });
    } else if ('call' in piece) {
      const toolUse = { toolUseId: `tooluse_${contentBlockIndex}`, name: piece.call };
      content.push({ toolUse: { ...toolUse, input: JSON.parse(piece.arguments) } });
      events.push(jsonEvent('contentBlockStart', { contentBlockIndex, start: { toolUse } }));
      for (const input of halves(piece.arguments)) say({ toolUse: { input } });
    } else {
      const text = textOf(piece);
      const quoted = 'quotes' in piece ? (piece.quotes ?? '') : null;
      const span = { documentIndex: 0, start: 0, end: quoted?.length ?? 0 };
      const location = quoted === null ? { web: { url: CITED } } : { documentChar: span };
      const citation = { title: 'A', sourceContent: [{ text: quoted ?? text }], location };
      const cited = 'cites' in piece || quoted !== null;
      if (cited) content.push({ citationsContent: { content: [{ text }], citations: [citation] } });
      else content.push({ text });
      for (const half of halves(text)) say({ text: half });
      if (cited) say({ citation });
    }
    events.push(jsonEvent('contentBlockStop', { contentBlockIndex }));
  });
  events.push(jsonEvent('messageStop', { stopReason: stop }), jsonEvent('metadata', { usage }));
  return {
    stream: Buffer.concat(events),
    whole: json({ output: { message: { role: 'assistant', content } }, stopReason: stop, usage }),
  };
}

/** The answer of each family. */
export const wireOf: Readonly<Record<GenerationFamily, (said: Said) => Wire>> = {
  openai_chat: chat,
  openai_responses: responses,
  anthropic_messages: anthropic,
  gemini,
  bedrock_converse: bedrock,
};
