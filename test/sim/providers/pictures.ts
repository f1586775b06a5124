// Inputs of embeddings that hold images, as Cohere, Jina, Voyage and Gemini take them, and the two paths that Voyage and
// Gemini have of their own.
import { gemini } from './gemini/gemini.ts';
import { openai } from './openai/openai.ts';
import { asked, noFrames, packed, spelt } from './openai/vectors.ts';
import type { JsonBody, Wire, WireError } from './wire.ts';

const DIMENSIONS = 8;
const DATA_URL = /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const GEMINI_PATH = /^\/v1beta\/models\/([^/:]+):batchEmbedContents$/;
/** The number of tokens of one image. */
export const IMAGE_TOKENS = 120;

/** One part of an input: a text, or an image by what its vector depends on. */
export interface Seen {
  readonly text?: string;
  readonly image?: string;
}

/** The text that determines the vector of an input. */
export function meantBy(parts: readonly Seen[]): string {
  return parts.map(({ text, image }) => text ?? `image ${image}`).join('\n');
}

export function textBytes(inputs: readonly (readonly Seen[])[]): number {
  return inputs.flat().reduce((sum, { text }) => sum + Buffer.byteLength(text ?? ''), 0);
}

export function imagesOf(inputs: readonly (readonly Seen[])[]): number {
  return inputs.flat().filter(({ image }) => image !== undefined).length;
}

function refused(message: string): WireError {
  return { status: 400, message };
}

/** Parts of Cohere's `inputs[].content` (`image_url`) or Voyage's (`image_base64`); null if the provider refuses them. */
export function partsOf(content: unknown): Seen[] | null {
  if (!Array.isArray(content) || content.length === 0) return null;
  const parts: Seen[] = [];
  for (const part of content as JsonBody[]) {
    const { url } = (part['image_url'] ?? {}) as { url?: unknown };
    const image = part['type'] === 'image_url' ? url : part['image_base64'];
    if (part['type'] === 'text' && typeof part['text'] === 'string') parts.push({ text: part['text'] });
    else if (typeof image === 'string' && DATA_URL.test(image)) {
      parts.push({ image: image.slice(image.indexOf(',') + 1) });
    } else return null;
  }
  return parts;
}

/** Jina's `{text}` or `{image}`; null for anything else. */
export function jinaPart(input: JsonBody): Seen | null {
  const { text, image } = input;
  if (Object.keys(input).length !== 1) return null;
  if (typeof text === 'string') return { text };
  return typeof image === 'string' && BASE64.test(image) ? { image } : null;
}

const voyageInputs = (body: JsonBody) =>
  (body['inputs'] as JsonBody[]).map(({ content }) => partsOf(content) as Seen[]);

/** POST /v1/multimodalembeddings. @see Voyage's reference: usage has text tokens, pixels and the total. */
export const voyagePictures: Wire = {
  ...openai,
  family: 'cohere',
  path: '/v1/multimodalembeddings',
  error: ({ message }) => JSON.stringify({ detail: message }),
  check(body) {
    const { inputs, model, output_encoding } = body;
    if (typeof model !== 'string') return refused("Argument 'model' is missing");
    if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > 1_000)
      return refused("Argument 'inputs' must be a list of 1 to 1000");
    if ((inputs as JsonBody[]).some(({ content }) => partsOf(content) === null))
      return refused('An input could not be read');
    return output_encoding === undefined || output_encoding === 'base64'
      ? null
      : refused("Argument 'output_encoding' must be base64");
  },
  read: (body) => asked(body['model'], textBytes(voyageInputs(body))),
  lastUserText: (body) => voyageInputs(body).map(meantBy).join('\n'),
  reported: (said) => ({ prompt_tokens: said.prompt_tokens, completion_tokens: 0 }),
  whole(body, said) {
    const dimensions = Number(body['output_dimension'] ?? DIMENSIONS);
    const data = voyageInputs(body).map((parts, index) => {
      const vector =
        body['output_encoding'] === 'base64'
          ? `"${packed(meantBy(parts), dimensions)}"`
          : `[${spelt(meantBy(parts), dimensions).join(',')}]`;
      return `{"object":"embedding","embedding":${vector},"index":${index}}`;
    });
    const image_pixels = imagesOf(voyageInputs(body)) * IMAGE_TOKENS * 560;
    const usage = {
      text_tokens: said.prompt_tokens,
      image_pixels,
      total_tokens: said.prompt_tokens + image_pixels / 560,
    };
    return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(said.model)},"usage":${JSON.stringify(usage)}}`;
  },
  frames: noFrames,
};

interface GeminiPart {
  text?: string;
  inlineData?: { mimeType: string; data: string };
}
interface GeminiEmbed {
  model?: string;
  content?: { parts?: GeminiPart[] };
  outputDimensionality?: number;
}

const geminiRequests = (body: JsonBody) => (body['requests'] ?? []) as GeminiEmbed[];

function geminiParts({ content }: GeminiEmbed): Seen[] {
  return (content?.parts ?? []).map(({ text, inlineData }) =>
    inlineData === undefined ? { text: text ?? '' } : { image: inlineData.data },
  );
}

function isGeminiPart({ text, inlineData }: GeminiPart): boolean {
  if (inlineData === undefined) return typeof text === 'string' && text !== '';
  return (
    text === undefined && /^image\/(png|jpeg)$/.test(inlineData.mimeType) && BASE64.test(inlineData.data)
  );
}

/** POST …:batchEmbedContents: one vector for each request, of all its parts; no usage is reported. */
export const geminiEmbeddings: Wire = {
  ...gemini,
  path: GEMINI_PATH.source,
  membersOf(url) {
    const match = GEMINI_PATH.exec(url.pathname);
    return match === null ? null : { model: decodeURIComponent(match[1] as string), stream: false };
  },
  check(body) {
    const requests = geminiRequests(body);
    if (requests.length === 0 || requests.length > 100)
      return refused('* BatchEmbedContentsRequest.requests: must have 1 to 100 items');
    const model = `models/${String(body['model'])}`;
    const wrong = requests.findIndex(
      (each) =>
        each.model !== model ||
        geminiParts(each).length === 0 ||
        !(each.content?.parts ?? []).every(isGeminiPart),
    );
    return wrong < 0 ? null : refused(`* BatchEmbedContentsRequest.requests[${wrong}]: cannot be read`);
  },
  read: (body) => asked(body['model'], textBytes(geminiRequests(body).map(geminiParts))),
  lastUserText: (body) =>
    geminiRequests(body)
      .map((each) => meantBy(geminiParts(each)))
      .join('\n'),
  reported: () => null,
  whole(body) {
    const embeddings = geminiRequests(body).map((each) => {
      const values = spelt(meantBy(geminiParts(each)), each.outputDimensionality ?? DIMENSIONS);
      return `{"values":[${values.join(',')}]}`;
    });
    return `{"embeddings":[${embeddings.join(',')}]}`;
  },
  frames: noFrames,
};
