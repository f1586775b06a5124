// POST /v1/embeddings as OpenAI answers it; with the members of Jina or Voyage if the request has theirs.

import { IMAGE_TOKENS, jinaPart, meantBy, type Seen } from '../pictures.ts';
import type { JsonBody, Wire, WireError } from '../wire.ts';
import { openai } from './openai.ts';
import { asked, bytesOf, inputsOf, noFrames, packed, spelt } from './vectors.ts';

const DIMENSIONS = 8;
/** Characters of one input beyond which a model's context is full. */
const CONTEXT_CHARACTERS = 20_000;

function invalid(message: string, param: string): WireError {
  return { status: 400, message, param };
}

function dimensionsOf(body: JsonBody): number {
  return Number(body['dimensions'] ?? body['output_dimension'] ?? DIMENSIONS);
}

type Input = string | number[] | JsonBody;

/** `input` as a list; Jina's may be objects of a text or an image. */
function given(body: JsonBody): Input[] {
  return inputsOf(body) as Input[];
}

function isObjectInput(input: Input): input is JsonBody {
  return typeof input === 'object' && !Array.isArray(input);
}

/** The text that determines the vector of an input. */
function meant(input: Input): string {
  if (isObjectInput(input)) return meantBy([jinaPart(input) as Seen]);
  return typeof input === 'string' ? input : input.join(' ');
}

/** The text of an input that counts as tokens. */
function worded(input: Input): string | number[] {
  return isObjectInput(input) ? String(input['text'] ?? '') : input;
}

export const openaiEmbeddings: Wire = {
  ...openai,
  path: '/v1/embeddings',

  check(body) {
    if (typeof body['model'] !== 'string') return invalid('you must provide a model parameter', 'model');
    const all = given(body);
    if (all.some((input) => isObjectInput(input) && jinaPart(input) === null))
      return invalid("'$.input' is invalid.", 'input');
    const inputs = all.map((input) => (isObjectInput(input) ? meant(input) : input));
    if (inputs.length === 0 || inputs.length > 2_048)
      return invalid("'input' has too few or too many items", 'input');
    if (inputs.some((input) => input.length === 0)) return invalid("'$.input' is invalid.", 'input');
    const format = body['encoding_format'];
    if (format !== undefined && format !== 'float' && format !== 'base64') {
      return invalid(`'${String(format)}' is not one of ['float', 'base64']`, 'encoding_format');
    }
    if (inputs.some((input) => input.length > CONTEXT_CHARACTERS)) {
      const message = "This model's maximum context length is 8192 tokens, however you requested more.";
      return { status: 400, message };
    }
    return null;
  },

  read: (body) => asked(body['model'], bytesOf(given(body).map(worded))),
  lastUserText: (body) => given(body).map(meant).join('\n'),
  reported: (said, knobs) =>
    knobs.no_usage === 1 ? null : { prompt_tokens: said.prompt_tokens, completion_tokens: 0 },

  whole(body, said, knobs) {
    const base64 = body['encoding_format'] === 'base64';
    const images = given(body).filter((input) => isObjectInput(input) && 'image' in input).length;
    const total = said.prompt_tokens + images * IMAGE_TOKENS;
    const data = given(body).map((input, index) => {
      const text = meant(input);
      const vector = base64
        ? `"${packed(text, dimensionsOf(body))}"`
        : `[${spelt(text, dimensionsOf(body)).join(', ')}]`;
      return `{"object": "embedding", "index": ${index}, "embedding": ${vector}}`;
    });
    // Voyage and Jina report only the total.
    const own = 'truncation' in body || 'task' in body || given(body).some(isObjectInput);
    const prompt = own ? '' : `"prompt_tokens": ${said.prompt_tokens}, `;
    const usage = knobs.no_usage === 1 ? '' : `, "usage": {${prompt}"total_tokens": ${total}}`;
    return `{"object": "list", "data": [${data.join(', ')}], "model": ${JSON.stringify(said.model)}${usage}}\n`;
  },

  frames: noFrames,
};
