// Writes a task as the body that a provider of embeddings or rankings accepts.
import { type JsonObject, ServiceError } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { hasImages, isContent, isTokens, pathOf } from '../../../canonical/tasks/inputs.ts';
import type {
  CanonicalRequest,
  EmbedContent,
  EmbedInput,
  EmbedTask,
  Loss,
  RerankTask,
} from '../../../canonical/types.ts';
import { type ContentForm, contentOf } from './content.ts';
import { lossesOf } from './losses.ts';
import { textOfTokens } from './tokens.ts';
import { inputTypeOn, wireOf } from './wires.ts';

/** A body: members that nothing may replace, and members that `svc.provider_options` may replace. */
interface Parts {
  readonly path: string;
  readonly content: JsonObject;
  readonly options: JsonObject;
}

/**
 * The request for `target`.
 * @throws ServiceError unsupported_parameter when its content cannot be represented, even if `svc.compat` is `drop`:
 * an embedding of other content, or of another length, would be a wrong answer that nobody notices.
 */
export function encodeTask(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const { task } = request;
  if (task === undefined) throw new Error('a request without a task cannot be embedded or ranked');
  refuseLosses(lossesOf(request, target));
  const parts =
    task.kind === 'embed' ? embedParts(request, task, target, options) : rerankParts(task, target);
  const body = { ...parts.options, ...options.extra, ...parts.content };
  return { path: parts.path, headers: [], body: Buffer.from(JSON.stringify(body)) };
}

function refuseLosses(losses: readonly Loss[]): void {
  const loss = losses.find((item) => item.class === 'content');
  if (loss !== undefined)
    throw new ServiceError('unsupported_parameter', loss.message, { param: loss.param });
}

function embedParts(
  request: CanonicalRequest,
  task: EmbedTask,
  target: Target,
  options: EncodeOptions,
): Parts {
  const model = target.upstream_model;
  const input_type = inputTypeOn(target, task.input_type);
  // In the same dialect these are fields of this format; in others they were losses.
  const ext = request.dialect === 'embeddings' ? request.ext : undefined;
  switch (wireOf(target).name) {
    case 'openai':
      return {
        path: '/embeddings',
        content: { model, input: openaiInput(task), ...sized('dimensions', task) },
        options: {
          ...(task.encoding === 'base64' && { encoding_format: 'base64' }),
          ...(input_type !== null && { input_type }),
          ...(options.user !== null && { user: options.user }),
          ...ext,
        },
      };
    case 'jina':
      return {
        path: '/embeddings',
        content: { model, input: jinaInputs(task, target), ...sized('dimensions', task) },
        options: {
          ...(input_type !== null && { task: input_type }),
          ...ext,
        },
      };
    case 'voyage':
      // Its models with vision answer on no other path, whatever they are sent.
      if (hasImages(task) || target.capabilities.vision) {
        return voyageContent(task, target, { input_type, ext });
      }
      return {
        path: '/embeddings',
        content: { model, input: textsOf(task, target), ...sized('output_dimension', task) },
        options: {
          // By default it silently cuts a text that is too long.
          truncation: false,
          ...(task.encoding === 'base64' && { encoding_format: 'base64' }),
          ...(input_type !== null && { input_type }),
          ...ext,
        },
      };
    case 'cohere':
      return {
        path: '/embed',
        content: {
          ...{ model, ...cohereInputs(task, target), embedding_types: ['float'] },
          ...sized('output_dimension', task),
        },
        options: {
          // Its newer models require it; a text that is not declared a query is one to be found.
          input_type: input_type ?? 'search_document',
          truncate: 'NONE',
        },
      };
    case 'gemini':
      return geminiParts(task, target, input_type);
  }
}

/**
 * The length of the vectors, under the format's name for it. No option may change it: vectors of another length are
 * refused when they arrive, and the provider has to be paid nevertheless.
 */
function sized(name: string, { dimensions }: EmbedTask): JsonObject {
  return dimensions === undefined ? {} : { [name]: dimensions };
}

function geminiParts(task: EmbedTask, target: Target, input_type: string | null): Parts {
  const model = `models/${target.upstream_model.replace(/^models\//, '')}`;
  const requests = contentsOf(task, target, 'gemini').map((parts) => ({
    model,
    content: { parts },
    ...(input_type !== null && { taskType: input_type }),
    ...(task.dimensions !== undefined && { outputDimensionality: task.dimensions }),
  }));
  return { path: `/${model}:batchEmbedContents`, content: { requests }, options: {} };
}

/** Content without images is its text; content with images was a loss. */
function openaiInput(task: EmbedTask): unknown {
  const inputs = task.input.map((input) => (isContent(input) ? wordsOf(input) : input));
  return task.single ? inputs[0] : inputs;
}

/** Each input is a text or an image, never both (`lossesOf`). */
function jinaInputs(task: EmbedTask, target: Target): unknown[] {
  if (!hasImages(task)) return textsOf(task, target);
  return contentsOf(task, target, 'jina').map((parts) => parts[0]);
}

/** Voyage has a separate path for models with vision, where base64 has another name. */
function voyageContent(
  task: EmbedTask,
  target: Target,
  { input_type, ext }: { input_type: string | null; ext: JsonObject | undefined },
): Parts {
  const inputs = contentsOf(task, target, 'voyage').map((content) => ({ content }));
  return {
    path: '/multimodalembeddings',
    content: { model: target.upstream_model, inputs, ...sized('output_dimension', task) },
    options: {
      truncation: false,
      ...(task.encoding === 'base64' && { output_encoding: 'base64' }),
      ...(input_type !== null && { input_type }),
      ...ext,
    },
  };
}

function cohereInputs(task: EmbedTask, target: Target): JsonObject {
  if (!hasImages(task)) return { texts: textsOf(task, target) };
  return { inputs: contentsOf(task, target, 'cohere').map((content) => ({ content })) };
}

/** Each input as parts in the format of `form`. */
function contentsOf(task: EmbedTask, target: Target, form: ContentForm): JsonObject[][] {
  const textOf = textReader(task, target);
  return task.input.map((input, i) => contentOf(isContent(input) ? input.content : [textOf(input, i)], form));
}

function textsOf(task: EmbedTask, target: Target): string[] {
  const textOf = textReader(task, target);
  return task.input.map((input, i) => textOf(input, i).text);
}

function textReader(task: EmbedTask, { tokenizer }: Target) {
  return (input: EmbedInput, i: number): { type: 'text'; text: string } => {
    if (isTokens(input)) {
      return { type: 'text', text: textOfTokens(input, tokenizer as string, pathOf(task, i)) };
    }
    return { type: 'text', text: typeof input === 'string' ? input : wordsOf(input) };
  };
}

function wordsOf({ content }: EmbedContent): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function rerankParts(task: RerankTask, target: Target): Parts {
  const { query, documents, top_n } = task;
  const content = { model: target.upstream_model, query, documents };
  // The texts are the caller's own: they are added here and need not be returned by the provider.
  switch (wireOf(target).name) {
    case 'voyage':
      return { path: '/rerank', content: { ...content, top_k: top_n }, options: { truncation: false } };
    case 'cohere':
      return { path: '/rerank', content: { ...content, top_n }, options: {} };
    default:
      return { path: '/rerank', content: { ...content, top_n, return_documents: false }, options: {} };
  }
}
