// Version 2 of Cohere's API: POST /v2/embed and /v2/rerank; and POST /v1/rerank as Jina and Voyage answer it.
import { openai } from './openai/openai.ts';
import { asked, bytesOf, noFrames, overlap, spelt } from './openai/vectors.ts';
import { IMAGE_TOKENS, imagesOf, meantBy, partsOf, type Seen, textBytes } from './pictures.ts';
import type { JsonBody, Wire, WireError } from './wire.ts';

const DIMENSIONS = 8;
const TEXTS_MAX = 96;
const CONTEXT_CHARACTERS = 20_000;
const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering', 'image'];

/** Cohere's errors are a sentence and an id. */
function error({ message }: WireError): string {
  return JSON.stringify({ id: 'err-sim', message });
}

function refused(message: string): WireError {
  return { status: 400, message };
}

const cohere = {
  ...openai,
  family: 'cohere',
  frames: noFrames,
  error,
  errorFrame: () => error({ status: 500, message: 'internal server error' }),
  headers: (): Record<string, string> => ({ 'x-debug-trace-id': 'sim' }),
  reported: (said, knobs) =>
    knobs.no_usage === 1 ? null : { prompt_tokens: said.prompt_tokens, completion_tokens: 0 },
} as const satisfies Partial<Wire>;

const textsOf = (body: JsonBody) => (body['texts'] ?? []) as string[];

/** `texts`, or `inputs` of texts and images. */
function inputsOf(body: JsonBody): Seen[][] {
  if (body['inputs'] === undefined) return textsOf(body).map((text) => [{ text }]);
  return (body['inputs'] as JsonBody[]).map(({ content }) => partsOf(content) as Seen[]);
}

function checkInputs({ inputs, texts }: JsonBody): WireError | null {
  if (texts !== undefined) return refused('invalid request: only one of texts and inputs may be given');
  if (!Array.isArray(inputs) || inputs.length === 0)
    return refused('invalid request: inputs must not be empty');
  if (inputs.length > TEXTS_MAX) return refused('invalid request: total number of inputs must be at most 96');
  return (inputs as JsonBody[]).some(({ content }) => partsOf(content) === null)
    ? refused('invalid request: an input is neither text nor an image as a data URI')
    : null;
}

export const cohereEmbed: Wire = {
  ...cohere,
  path: '/v2/embed',

  check(body) {
    const texts = body['texts'];
    if (typeof body['model'] !== 'string') return refused('invalid request: model is required');
    if (body['inputs'] !== undefined) {
      const wrong = checkInputs(body);
      if (wrong !== null) return wrong;
    } else if (!Array.isArray(texts) || texts.length === 0)
      return refused('invalid request: texts must be given');
    else if (texts.length > TEXTS_MAX)
      return refused('invalid request: total number of texts must be at most 96');
    if (!INPUT_TYPES.includes(String(body['input_type']))) {
      return refused('invalid request: valid input_type must be provided with the provided model');
    }
    if (body['truncate'] === 'NONE' && textsOf(body).some((text) => text.length > CONTEXT_CHARACTERS)) {
      return refused(
        'invalid request: too many tokens in text number 1: the total number of tokens is above 512',
      );
    }
    return null;
  },

  read: (body) => asked(body['model'], textBytes(inputsOf(body))),
  lastUserText: (body) => inputsOf(body).map(meantBy).join('\n'),

  whole(body, said, knobs) {
    const dimensions = Number(body['output_dimension'] ?? DIMENSIONS);
    const inputs = inputsOf(body);
    const vectors = inputs.map((parts) => `[${spelt(meantBy(parts), dimensions).join(',')}]`);
    const images = imagesOf(inputs);
    const beside = images === 0 ? '' : `,"images":${images},"image_tokens":${images * IMAGE_TOKENS}`;
    const billed =
      knobs.no_usage === 1 ? '' : `,"billed_units":{"input_tokens":${said.prompt_tokens}${beside}}`;
    return (
      `{"id":"embed-sim${said.id}","embeddings":{"float":[${vectors.join(',')}]},` +
      `"texts":${JSON.stringify(textsOf(body))},"meta":{"api_version":{"version":"2"}${billed}},` +
      '"response_type":"embeddings_by_type"}'
    );
  },
};

const documentsOf = (body: JsonBody) => (body['documents'] ?? []) as string[];

/** Documents by score, best last, so that a reader that does not sort is noticed. */
function ranked(body: JsonBody): { index: number; relevance_score: number }[] {
  const top = Number(body['top_n'] ?? body['top_k'] ?? documentsOf(body).length);
  return documentsOf(body)
    .map((document, index) => ({ index, relevance_score: overlap(String(body['query']), document) }))
    .sort((a, b) => b.relevance_score - a.relevance_score || b.index - a.index)
    .slice(0, top)
    .reverse();
}

function checkRerank(body: JsonBody): WireError | null {
  if (typeof body['model'] !== 'string') return refused('invalid request: model is required');
  if (typeof body['query'] !== 'string' || body['query'] === '')
    return refused('invalid request: query must be given');
  return documentsOf(body).length === 0
    ? refused('invalid request: list of documents must not be empty')
    : null;
}

export const cohereRerank: Wire = {
  ...cohere,
  path: '/v2/rerank',
  check: checkRerank,
  read: (body) => asked(body['model'], bytesOf(documentsOf(body))),
  lastUserText: (body) => String(body['query']),
  whole: (body, said, knobs) =>
    JSON.stringify({
      id: `rerank-sim${said.id}`,
      results: ranked(body),
      meta: {
        api_version: { version: '2' },
        ...(knobs.no_usage === 0 && {
          billed_units: { search_units: Math.ceil(documentsOf(body).length / 100) },
        }),
      },
    }),
};

export const compatibleRerank: Wire = {
  ...cohereRerank,
  path: '/v1/rerank',
  error: ({ message }) => JSON.stringify({ detail: message }),
  whole(body, said, knobs) {
    const usage = knobs.no_usage === 1 ? {} : { usage: { total_tokens: said.prompt_tokens } };
    return JSON.stringify(
      'top_k' in body
        ? { object: 'list', data: ranked(body), model: said.model, ...usage }
        : { model: said.model, ...usage, results: ranked(body) },
    );
  },
};
